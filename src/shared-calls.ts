// Single URLs that are called while a call of the same verb waits to be sent share that call: one write to the disk or one
// round trip for all of them.

import { SieveError } from './errors.ts'

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

/** A verdict for each URL, or its error: one that is too long must not make the others fail, which came in calls of their own. */
export async function answerEach(
  urls: readonly string[],
  run: (urls: readonly string[]) => Promise<Uint8Array>,
): Promise<ArrayLike<number | SieveError>> {
  try {
    return await run(urls)
  } catch (error) {
    if ((error as SieveError).code !== 'memory' || urls.length === 1) throw error
  }
  const answers: (number | SieveError)[] = []
  for (const url of urls) {
    try {
      answers.push((await run([url]))[0]!)
    } catch (error) {
      if (!(error instanceof SieveError)) throw error
      answers.push(error)
    }
  }
  return answers
}
