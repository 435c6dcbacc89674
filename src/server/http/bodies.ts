// Reads a JSON body within the limits of size and time, and within the memory for all bodies together.
import type { Readable } from 'node:stream'
import type { HttpLimits } from './limits.ts'
import { Problem } from './problems.ts'

export class Bodies {
  readonly #limits: HttpLimits
  /** Bytes of all incomplete bodies. */
  #waiting = 0

  constructor(limits: HttpLimits) {
    this.#limits = limits
  }

  /** Reads a whole body. Rejects with a Problem: too large, too slow, or too many bytes of other bodies. */
  read(stream: Readable, announced: number): Promise<Buffer> {
    const { jsonBytes, bufferBytes, bodyMs } = this.#limits
    const tooLarge = () =>
      new Problem(413, `a JSON body of more than ${jsonBytes} bytes: send less, or lines as text/plain`)
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
          const detail = `incomplete bodies of all clients exceed ${bufferBytes} bytes: try again`
          finish(new Problem(503, detail, { headers: { 'retry-after': '1' } }))
        }
      }
      const end = () => finish()
      const fail = () => finish(new Problem(400, 'the body ended before its announced length'))
      const timer = setTimeout(
        () =>
          finish(new Problem(408, `the body was incomplete after ${bodyMs} ms: send it faster or in parts`)),
        bodyMs,
      )
      stream.on('data', take).on('end', end).on('error', fail).on('close', fail)
    })
  }
}
