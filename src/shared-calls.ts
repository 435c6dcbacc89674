// Single URLs that are called while a call of the same verb waits to be sent share that call: one write to the disk or one
// round trip for all of them.

interface Group<A> {
  readonly verb: string
  readonly urls: string[]
  readonly answers: Promise<A>
}

export class SharedCalls<A> {
  #group: Group<A> | null = null

  /**
   * Puts a URL into the group of that verb, or begins one. `begin` gets the group's list, which grows until `end`, and
   * resolves with the answers for all of it. Returns the group's answers and the URL's place among them.
   */
  join(
    verb: string,
    url: string,
    begin: (urls: readonly string[]) => Promise<A>,
  ): { answers: Promise<A>; index: number; urls: readonly string[] } {
    if (this.#group?.verb !== verb) {
      const urls: string[] = []
      const answers = begin(urls)
      this.#group = { verb, urls, answers }
    }
    const { urls, answers } = this.#group
    return { answers, index: urls.push(url) - 1, urls }
  }

  /** No URL joins the group of this list any more; without a list, that of any. */
  end(urls?: readonly string[]): void {
    if (urls === undefined || this.#group?.urls === urls) this.#group = null
  }
}
