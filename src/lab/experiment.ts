// An experiment has a question, runs over URLs, and returns numbers: tables, plots and a finding computed from them.
// Measuring is separate from reporting.

/** Distinct URLs as one byte buffer: URL i is bytes [starts[i], ends[i]). */
export interface UrlList {
  readonly count: number
  readonly bytes: Uint8Array
  readonly starts: Uint32Array
  readonly ends: Uint32Array
  /** URL i as a string. */
  at(i: number): string
  /** URLs [from, to) as newline-separated bytes, for `addLines`. */
  lines(from: number, to: number): Uint8Array
}

/** What the lab provides to an experiment. */
export interface Lab {
  /** Small sizes: the whole lab takes a minute. */
  readonly quick: boolean
  readonly seed: number
  /** Up to `most` distinct URLs, always the same first ones: from the user's files, else generated from the seed. */
  urls(most: number): Promise<UrlList>
  /** Integers of url-caching's hash functions: modulo 2^32, or as wide as they become. */
  readonly integers?: 'wrapping' | 'unbounded'
  /** Tables given with --csv, for the keyword experiments; none: the experiment generates one from the seed. */
  readonly tables: readonly string[]
  /** A generator for each purpose: the same seed and name give the same numbers on any machine. */
  random(name: string): () => number
  /** 16 bytes for a sieve's hash, from the seed: counts are the same on any machine. */
  key(name: string): Uint8Array
  /** Reports the share of the work that is done, 0 to 1, and the current step. */
  progress(share: number, doing: string): void
}

export type Cell = string | number | null

export interface Column {
  /** Short, with its unit: `false positives`, `ns/add`. */
  readonly name: string
  /** The format of its numbers; by default it depends on their size. */
  readonly as?: 'count' | 'rate' | 'time' | 'ratio' | 'bytes' | 'text'
  /** A time or a ratio of times: differs from run to run, so tests and reruns do not compare it. */
  readonly timing?: boolean
}

export interface Table {
  readonly title: string
  /** One sentence: what to look for, or a caution. */
  readonly note?: string
  readonly columns: readonly Column[]
  readonly rows: readonly (readonly Cell[])[]
}

export interface Point {
  readonly x: number
  readonly y: number
  /** No error was found: y is the upper end of the interval. */
  readonly bound?: true
  /** Confidence interval of y. */
  readonly low?: number
  readonly high?: number
}

export interface Series {
  readonly name: string
  /** Printed in a paper, not measured here: drawn differently. */
  readonly printed?: boolean
  readonly points: readonly Point[]
}

export interface Plot {
  readonly title: string
  /** The text for readers who cannot see the plot. */
  readonly alt: string
  readonly x: { readonly label: string; readonly log?: boolean }
  readonly y: { readonly label: string; readonly log?: boolean }
  readonly kind: 'line' | 'bar'
  readonly series: readonly Series[]
}

/** What an experiment says of a claim. `confirmed only with more memory`: not against a filter of the same memory. */
export type Verdict = 'confirmed' | 'confirmed only with more memory' | 'not reproduced' | 'wrong'

export interface Claim {
  /** The paper and the place in it, or 'ours'. */
  readonly source: string
  /** What it says, in our words. */
  readonly claim: string
  readonly verdict: Verdict
  /** The one or two numbers that the verdict rests on: computed. */
  readonly number: string
}

export interface Result {
  /** The claims that were tested. The first is the experiment's own question: its verdict opens the report. */
  readonly claims: readonly Claim[]
  /** One or two sentences with the numbers that answer the question: computed, never written in advance. */
  readonly finding: string
  /** Each is a CSV file; the first has the experiment's name. */
  readonly tables: readonly Table[]
  readonly plots: readonly Plot[]
}

export interface Experiment {
  readonly name: string
  readonly title: string
  /** The paper and its figure, or 'ours'. */
  readonly source: string
  /** The question, in one sentence. */
  readonly question: string
  run(lab: Lab): Promise<Result>
}
