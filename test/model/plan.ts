// A random sequence of calls, from a seed: what a sieve is asked to do, apart from how it does it. URLs come from a small
// pool, so that they repeat; some are the same page in another spelling, some are not URLs at all.
import { randomFrom } from '../support/random.mjs'
export type Step =
  | { readonly verb: 'add' | 'has' | 'delete' | 'explain'; readonly url: string }
  | {
      readonly verb: 'addMany' | 'hasMany' | 'addLines' | 'hasLines' | 'addItems' | 'hasItems' | 'feed'
      readonly urls: readonly string[]
    }
  | { readonly verb: 'merge'; readonly urls: readonly string[] }
  | { readonly verb: 'refused'; readonly number: number }
  | { readonly verb: 'clear' | 'reopen' | 'crash' | 'saveLoad' | 'fold' }

/** How often each verb comes. */
const weights: readonly (readonly [Step['verb'], number])[] = [
  ['add', 10],
  ['has', 6],
  ['delete', 8],
  ['explain', 2],
  ['addMany', 10],
  ['hasMany', 6],
  ['addLines', 8],
  ['hasLines', 3],
  ['addItems', 6],
  ['hasItems', 3],
  ['feed', 5],
  ['merge', 2],
  ['refused', 16],
  ['clear', 1],
  ['reopen', 3],
  ['crash', 5],
  ['saveLoad', 2],
  ['fold', 4],
]
const bag = weights.flatMap(([verb, weight]) => new Array<Step['verb']>(weight).fill(verb))

export function* stepsOf(seed: number, count: number): Generator<Step> {
  const random = randomFrom(seed)
  const below = (n: number) => Math.floor(random() * n)
  const url = (): string => {
    const page = `h${below(3)}.example/${'abc'[below(3)]}/${below(40)}`
    const kind = below(20)
    if (kind < 12) return `https://${page}`
    if (kind < 14) return `HTTP://${page.toUpperCase().replace('.EXAMPLE', '.Example')}`
    if (kind < 16) return `https://${page}#part-${below(3)}`
    if (kind === 16) return `https://bücher.example/${below(20)}`
    if (kind === 17) return `no url ${below(20)}`
    if (kind === 18) return `https://${page}/${'long/'.repeat(below(300))}`
    return below(2) === 0 ? '' : `https://${page}?q=${below(9)}&\u{1f50d}`
  }
  const list = (): string[] => {
    // Now and then more than a batch of the kernel's.
    const length = below(25) === 0 ? 2000 + below(200) : below(20)
    return Array.from({ length }, url)
  }
  for (let i = 0; i < count; i++) {
    const verb = bag[below(bag.length)]!
    if (verb === 'add' || verb === 'has' || verb === 'delete' || verb === 'explain')
      yield { verb, url: url() }
    else if (verb === 'refused') yield { verb, number: below(1000) }
    else if (
      verb === 'clear' ||
      verb === 'reopen' ||
      verb === 'crash' ||
      verb === 'saveLoad' ||
      verb === 'fold'
    )
      yield { verb }
    else yield { verb, urls: list() }
  }
}
