// The chunks of a request's body, read one at a time on demand, so that a slow consumer slows the sender down.
import type { IncomingMessage } from 'node:http'
import { Problem } from './problems.ts'

interface Waiter {
  resolve(chunk: Buffer | null): void
  reject(error: Error): void
}

export class BodyChunks {
  readonly #request: IncomingMessage
  readonly #bodyMs: number
  #deadline = Infinity
  #waiter: Waiter | null = null
  #failure: Error | null = null

  /** A line may take `bodyMs` to arrive; between lines the idle timeout of the connection applies. */
  constructor(request: IncomingMessage, bodyMs: number) {
    this.#request = request
    this.#bodyMs = bodyMs
    request.pause()
    request.on('data', (chunk: Buffer) => {
      request.pause()
      this.#waiter?.resolve(chunk)
    })
    request.on('end', () => this.#waiter?.resolve(null))
    request.on('error', () => this.#fail())
    request.on('close', () => this.#fail())
  }

  /** Whether the whole body has been read. */
  get isLast(): boolean {
    return this.#request.complete && this.#request.readableLength === 0
  }

  /** A line was completed: the time limit starts again with the next one. */
  lineEnded(): void {
    this.#deadline = Infinity
  }

  /** The next chunk; null at the end of the body. `inLine`: a line is incomplete. */
  async next(inLine: boolean): Promise<Buffer | null> {
    if (this.#request.readableEnded) return null
    if (this.#failure) throw this.#failure
    const now = performance.now()
    if (inLine && this.#deadline === Infinity) this.#deadline = now + this.#bodyMs
    let timer: NodeJS.Timeout | undefined
    try {
      return await new Promise<Buffer | null>((resolve, reject) => {
        this.#waiter = { resolve, reject }
        if (inLine) timer = setTimeout(() => reject(this.#late()), Math.max(0, this.#deadline - now))
        this.#request.resume()
      })
    } finally {
      clearTimeout(timer)
      this.#waiter = null
      this.#request.pause()
    }
  }

  #late(): Problem {
    return new Problem(
      408,
      `a line was incomplete after ${this.#bodyMs} ms: send whole lines, or end the body`,
    )
  }

  #fail(): void {
    if (this.#request.readableEnded) return
    this.#failure = new Problem(400, 'the body ended before it was complete')
    this.#waiter?.reject(this.#failure)
  }
}
