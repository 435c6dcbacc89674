// `urlsieve serve` in a process of its own, on a free port, for the tests of its clients.
import { spawn } from 'node:child_process'
import { main } from '../e2e/command.ts'

export interface SieveServer {
  readonly port: number
  /** Stops and goes on: connections stay, answers do not come. */
  pause(): void
  resume(): void
  /** Ends it at once, as a crash does. */
  kill(): Promise<void>
}

/** In memory, or with its sieves in a folder. */
export async function startSieveServer(folder?: string, port = 0): Promise<SieveServer> {
  const data = folder === undefined ? [] : ['--data', folder]
  const child = spawn(process.execPath, [main, 'serve', '--port', String(port), '--no-http', ...data])
  const closed = new Promise<void>((resolve) => child.on('close', () => resolve()))
  const heard = await new Promise<RegExpExecArray>((resolve, reject) => {
    let said = ''
    const hear = (chunk: Buffer) => {
      said += chunk
      const found = /RESP on \S+:(\d+)/.exec(said)
      if (found) resolve(found)
    }
    child.stdout.on('data', hear)
    child.stderr.on('data', hear)
    void closed.then(() => reject(new Error(`the server ended: ${said}`)))
  })
  return {
    port: Number(heard[1]),
    pause: () => child.kill('SIGSTOP'),
    resume: () => child.kill('SIGCONT'),
    kill() {
      child.kill('SIGKILL')
      return closed
    },
  }
}
