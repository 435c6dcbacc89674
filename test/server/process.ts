// `urlsieve serve` as a process of its own, from dist/, on free ports; gone when the test file has ended.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { main } from '../e2e/command.ts'
import { atEnd } from './ends.ts'
import { Raw } from './raw.ts'

export interface Process {
  readonly child: ChildProcess
  readonly port: number
  readonly httpPort: number | undefined
  /** All it has said so far. */
  output(): string
  connect(): Promise<Raw>
  /** Its exit code, or the signal that ended it. */
  ended(): Promise<number | string | null>
}

/** Starts a server and waits until it listens. */
export async function started(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Process> {
  const child = spawn(process.execPath, [main, 'serve', '--port', '0', '--http', '0', '--json', ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
  })
  atEnd(() => child.kill('SIGKILL'))
  const end = once(child, 'exit').then(([code, signal]) => (code ?? signal) as number | string | null)
  let text = ''
  child.stderr.on('data', (chunk: Buffer) => {
    text += chunk
  })
  const line = await new Promise<string>((resolve, reject) => {
    child.stdout.on('data', (chunk: Buffer) => {
      text += chunk
      const found = text.split('\n').find((one) => one.includes('"listening"'))
      if (found) resolve(found)
    })
    void end.then(() => reject(new Error(`the server did not start: ${text}`)))
  })
  const { resp, http } = JSON.parse(line) as { resp: number; http?: number }
  return {
    child,
    port: resp,
    httpPort: http,
    output: () => text,
    connect: () => Raw.connect(resp),
    ended: () => end,
  }
}
