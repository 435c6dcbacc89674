// Seeded pages for the content tests: words drawn as in a language (few common, many rare), and changed copies.
import { random } from '../../src/lab/random.ts'

const WORDS = Array.from({ length: 20_001 }, (_, rank) => `w${rank.toString(36)}`)

export class Pages {
  readonly #draw: () => number

  constructor(seed: number, name: string) {
    this.#draw = random(seed, name)
  }

  /** A whole number below `end`. */
  below(end: number): number {
    return Math.floor(this.#draw() * end)
  }

  /** One of 20,000 words, by Zipf's law. */
  word(): string {
    return WORDS[Math.floor(20_000 ** this.#draw())]!
  }

  page(words: number): string[] {
    return Array.from({ length: words }, () => this.word())
  }

  /** A copy with `changes` words replaced. */
  changed(words: readonly string[], changes: number): string[] {
    const copy = [...words]
    for (let i = 0; i < changes; i++) copy[this.below(copy.length)] = `${this.word()}x`
    return copy
  }
}
