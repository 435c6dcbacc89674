// The chunks of a request's body, one at a time: the next is read when it is asked for, so a reader that is held up
// holds the sender up.
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

  /** A sender that is in the middle of a line for `bodyMs` is given up; between lines the connection's own limit holds. */
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

  /** Nothing is left to wait for. */
  get isLast(): boolean {
    return this.#request.complete && this.#request.readableLength === 0
  }

  /** A line was ended: the next one has all the time again. */
  lineEnded(): void {
    this.#deadline = Infinity
  }

  /** `inLine`: a line has begun. Null: the body has ended, and well. */
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
      `a line that did not end within ${this.#bodyMs} ms: send whole lines, or end the body`,
    )
  }

  #fail(): void {
    if (this.#request.readableEnded) return
    this.#failure = new Problem(400, 'the body broke off before its end')
    this.#waiter?.reject(this.#failure)
  }
}
