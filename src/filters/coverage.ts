// Which bytes of a filter's arrays a file has given so far: each must come once and in order, and in the end all of them.

export class Coverage {
  /** Of each array: where its next piece begins. */
  readonly #next = new Map<number, number>()
  #isInOrder = true

  /** A piece of an array of `total` bytes. Throws a RangeError when it does not lie within. */
  take(array: number, offset: number, bytes: number, total: number): void {
    if (!(bytes > 0) || offset + bytes > total) {
      throw new RangeError(`no room for ${bytes} bytes at ${offset} of array ${array}`)
    }
    if (offset !== this.bytesOf(array)) this.#isInOrder = false
    this.#next.set(array, offset + bytes)
  }

  bytesOf(array: number): number {
    return this.#next.get(array) ?? 0
  }

  /** Throws a RangeError unless an array of `total` bytes was given, whole and in order. */
  check(array: number, total: number): void {
    if (this.#isInOrder && this.bytesOf(array) === total) return
    throw new RangeError(`array ${array} of ${total} bytes is not there once and whole`)
  }
}
