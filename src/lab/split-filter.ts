// "Classic" as Algorithms 1 and 2 of term-project and sharma-keywords print it: the parts of a key, not the key itself, in
// one Bloom filter. A key is present when all its parts are, in any order and from any keys.
import { Sieve, type SieveOptions } from '../sieve.ts'

const encoder = new TextEncoder()
const SLASH = 0x2f
const NEWLINE = 0x0a

/** Between two parts: a slash, where parts may be empty; or whatever is no letter, digit or byte past ASCII. */
export type Split = 'segments' | 'words'

const isLetter = (byte: number): boolean =>
  byte >= 0x80 || (byte >= 48 && byte <= 57) || ((byte | 32) >= 97 && (byte | 32) <= 122)

/** The parts of newline-separated keys as lines of their own, and how many each key has. */
export function partLines(lines: Uint8Array, split: Split): { lines: Uint8Array; counts: number[] } {
  const parts = new Uint8Array(lines.length)
  const counts: number[] = []
  let used = 0
  let begin = 0
  let own = 0
  const end = () => {
    if (split === 'words' && used === begin) return
    parts[used++] = NEWLINE
    begin = used
    own++
  }
  for (const byte of lines) {
    if (byte === NEWLINE) {
      end()
      counts.push(own)
      own = 0
    } else if (split === 'segments' ? byte === SLASH : !isLetter(byte)) end()
    else parts[used++] = byte
  }
  return { lines: parts.subarray(0, used), counts }
}

export class SplitFilter {
  readonly sieve: Sieve
  readonly #split: Split

  private constructor(sieve: Sieve, split: Split) {
    this.sieve = sieve
    this.#split = split
  }

  static async create(options: SieveOptions, split: Split): Promise<SplitFilter> {
    return new SplitFilter(await Sieve.create({ ...options, profile: 'raw' }), split)
  }

  addMany(keys: readonly string[]): void {
    this.addLines(encoder.encode(`${keys.join('\n')}\n`))
  }

  hasMany(keys: readonly string[]): Uint8Array {
    return keys.length === 0 ? new Uint8Array(0) : this.hasLines(encoder.encode(`${keys.join('\n')}\n`))
  }

  /** Algorithm 1. */
  addLines(lines: Uint8Array): void {
    this.sieve.addLines(partLines(lines, this.#split).lines)
  }

  /** Algorithm 2: 1 where every part is present. A key without parts is present. */
  hasLines(lines: Uint8Array): Uint8Array {
    const parts = partLines(lines, this.#split)
    const found = this.sieve.hasLines(parts.lines)
    let at = 0
    return Uint8Array.from(parts.counts, (count) => {
      let all = 1
      for (const last = at + count; at < last; at++) all &= found[at]!
      return all
    })
  }
}
