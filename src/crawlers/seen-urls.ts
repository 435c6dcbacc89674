// What a crawler's queue asks of a sieve. `Sieve`, `ExactSieve` and the cluster's sieve are such; so is your own.

type Answers<T> = T | Promise<T>

export interface SeenUrls {
  /** Marks URLs: one verdict each, in order, 1 new and 0 seen. */
  addMany(urls: readonly string[]): Answers<Uint8Array>
  /** Asks for URLs, marks nothing: 1 seen and 0 not. Without it every link is written to the frontier first. */
  hasMany?(urls: readonly string[]): Answers<Uint8Array>
  close?(): Answers<void>
}
