// An HTTP side over a small registry, with or without a socket; both end with the test file.
import { connect, type Socket } from 'node:net'
import { afterAll } from 'vitest'
import { type HttpOptions, makeApp } from '../../../src/server/http/app.ts'
import { HTTP_LIMITS, type HttpLimits, openHttp } from '../../../src/server/http/index.ts'
import { serverInfo } from '../../../src/server/info.ts'
import { MemoryRegistry } from './memory-registry.ts'

type Given = Partial<Omit<HttpOptions, 'limits'>> & { limits?: Partial<HttpLimits> }

function optionsFor({ limits, ...given }: Given): HttpOptions {
  return {
    host: '127.0.0.1',
    port: 0,
    server: serverInfo('1.2.3'),
    onDefect: (error) => defects.push(error),
    ...given,
    limits: { ...HTTP_LIMITS, ...limits },
  }
}

/** Errors that no request may cause. */
export const defects: unknown[] = []

/** Without a socket. */
export async function application({
  registry = new MemoryRegistry(),
  ...given
}: Given & { registry?: MemoryRegistry } = {}) {
  const options = optionsFor(given)
  const { app, close } = await makeApp(registry, options)
  afterAll(close)
  return { app, registry, info: options.server }
}

/** On a free port of the loopback. */
export async function listening(given: Given = {}) {
  const registry = new MemoryRegistry()
  const options = optionsFor(given)
  const { port, close } = await openHttp(registry, options)
  afterAll(close)
  return { port, close, registry, info: options.server, url: `http://127.0.0.1:${port}` }
}

/** A bare connection, and all that came on it. */
export async function dial(port: number): Promise<Dialled> {
  const socket = connect(port, '127.0.0.1')
  await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject))
  return new Dialled(socket)
}

export class Dialled {
  readonly socket: Socket
  text = ''
  /** Resolved when the connection has ended, either way. */
  readonly ended: Promise<string>

  constructor(socket: Socket) {
    this.socket = socket
    socket.setEncoding('latin1')
    socket.on('data', (text: string) => {
      this.text += text
    })
    this.ended = new Promise((resolve) => {
      socket.on('error', () => {})
      socket.on('close', () => resolve(this.text))
    })
    afterAll(() => socket.destroy())
  }

  send(text: string | Uint8Array): void {
    this.socket.write(text)
  }

  /** Waits until what came matches. */
  async until(words: RegExp, withinMs = 10_000): Promise<string> {
    const end = performance.now() + withinMs
    while (!words.test(this.text)) {
      if (performance.now() > end)
        throw new Error(`no ${words} within ${withinMs} ms in: ${this.text.slice(0, 2000)}`)
      await new Promise((resolve) => setTimeout(resolve, 2))
    }
    return this.text
  }
}

/** Whether no byte leaves for a while. */
export async function isStuck(socket: Socket): Promise<boolean> {
  const before = socket.writableLength
  for (let i = 0; i < 10; i++) {
    await new Promise((resolve) => setTimeout(resolve, 10))
    if (socket.writableLength < before) return false
  }
  return true
}
