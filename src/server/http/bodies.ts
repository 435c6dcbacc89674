// Reads a JSON body: whole, within its limits of bytes and of time, and within what all bodies together may take.
import type { Readable } from 'node:stream'
import type { HttpLimits } from './limits.ts'
import { Problem } from './problems.ts'

export class Bodies {
  readonly #limits: HttpLimits
  /** Bytes of all bodies that wait for their end. */
  #waiting = 0

  constructor(limits: HttpLimits) {
    this.#limits = limits
  }

  /** All of a body. Throws a Problem: too large, too slow, or too much for now. */
  read(stream: Readable, announced: number): Promise<Buffer> {
    const { jsonBytes, bufferBytes, bodyMs } = this.#limits
    const tooLarge = () =>
      new Problem(413, `a JSON body of over ${jsonBytes} bytes: send less, or lines as text/plain`)
    if (announced > jsonBytes) return Promise.reject(tooLarge())
    const chunks: Buffer[] = []
    let size = 0
    return new Promise<Buffer>((resolve, reject) => {
      const finish = (problem?: Error) => {
        clearTimeout(timer)
        stream.off('data', take).off('end', end).off('error', fail).off('close', fail)
        this.#waiting -= size
        if (problem) reject(problem)
        else resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, size))
      }
      const take = (chunk: Buffer) => {
        size += chunk.length
        this.#waiting += chunk.length
        chunks.push(chunk)
        if (size > jsonBytes) finish(tooLarge())
        else if (this.#waiting > bufferBytes) {
          const detail = `${bufferBytes} bytes of bodies are waiting already: try again`
          finish(new Problem(503, detail, { headers: { 'retry-after': '1' } }))
        }
      }
      const end = () => finish()
      const fail = () => finish(new Problem(400, 'the body ended before its announced length'))
      const timer = setTimeout(
        () => finish(new Problem(408, `no whole body within ${bodyMs} ms: send it faster or in parts`)),
        bodyMs,
      )
      stream.on('data', take).on('end', end).on('error', fail).on('close', fail)
    })
  }
}
