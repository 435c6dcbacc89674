// The requests that a queue has given out, by id: Crawlee returns them by their data, the frontier ends them by place.
// A sieve may distinguish requests with the same unique key, so that several have one id.
import type { Answer } from '../any-sieve.ts'

interface Given<R> {
  readonly request: R
  readonly place: number
}

export class InProgress<R extends object> {
  readonly #given = new Map<string, readonly Given<R>[]>()

  add(id: string, request: R, place: number): void {
    this.#given.set(id, [...(this.#given.get(id) ?? []), { request, place }])
  }

  get(id: string): R | undefined {
    return this.#given.get(id)?.[0]?.request
  }

  /** Ends a request with `end`, which gets its place. False: it is not in progress, or `end` returned false. */
  async end(id: string, request: object, end: (place: number) => Answer<boolean>): Promise<boolean> {
    const all = this.#given.get(id) ?? []
    const one = all.find((given) => given.request === request) ?? all[0]
    if (!one) return false
    // It stays in progress when this fails.
    const isEnded = await end(one.place)
    const others = (this.#given.get(id) ?? []).filter(({ place }) => place !== one.place)
    if (others.length > 0) this.#given.set(id, others)
    else this.#given.delete(id)
    return isEnded
  }

  clear(): void {
    this.#given.clear()
  }
}
