// Both filters as the paper ran them: k real hash functions, each over every byte; a classic filter, and Algorithms 1 and 2
// with their order of layers, first to last, one URL after the other. Plain loops, the same for both: what differs is the structure.
import type { BareUrls } from '../../bare-urls.ts'
import type { Lab, Table } from '../../experiment.ts'
import { numberedLines, type Pieces } from '../../negatives.ts'
import { count, factor, percent } from '../../wording.ts'
import { PAPER } from './paper.ts'

const SLASH = 0x2f
const NEWLINE = 0x0a
const CHUNK_URLS = 1 << 16
const { hashes } = PAPER

/**
 * The j-th of k = 3 functions of the time, a byte at a time: 31 · h + c, DJB2 and FNV-1a; a finaliser makes them even
 * modulo any m.
 */
function hashOf(j: number, bytes: Uint8Array, from: number, to: number): number {
  let h = j === 0 ? 0 : j === 1 ? 5381 : 0x811c9dc5
  if (j === 0) for (let p = from; p < to; p++) h = (Math.imul(h, 31) + bytes[p]!) | 0
  else if (j === 1) for (let p = from; p < to; p++) h = (Math.imul(h, 33) + bytes[p]!) | 0
  else for (let p = from; p < to; p++) h = Math.imul(h ^ bytes[p]!, 0x01000193)
  return finish(h)
}

function finish(hash: number): number {
  let h = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  // 31 bits: a remainder of small integers, not of doubles.
  return (h ^ (h >>> 16)) >>> 1
}

class Bits {
  readonly #bytes: Uint8Array
  constructor(bits: number) {
    this.#bytes = new Uint8Array(Math.ceil(bits / 8))
  }
  set(at: number): void {
    this.#bytes[at >>> 3]! |= 1 << (at & 7)
  }
  has(at: number): boolean {
    return ((this.#bytes[at >>> 3]! >> (at & 7)) & 1) === 1
  }
}

/** A filter of the byte-serial kind: keys are bytes [from, to) of a buffer. */
export interface ByteSerial {
  add(bytes: Uint8Array, from: number, to: number): void
  has(bytes: Uint8Array, from: number, to: number): boolean
}

export function classicFilter(m: number): ByteSerial {
  const bits = new Bits(m)
  return {
    add(bytes, from, to) {
      for (let j = 0; j < hashes; j++) bits.set(hashOf(j, bytes, from, to) % m)
    },
    has(bytes, from, to) {
      for (let j = 0; j < hashes; j++) if (!bits.has(hashOf(j, bytes, from, to) % m)) return false
      return true
    },
  }
}

export function multilayerFilter(m: number, layers: number): ByteSerial {
  const all = Array.from({ length: layers + 1 }, () => new Bits(m))
  const folded = new Uint32Array(hashes)
  const segmentEnd = (bytes: Uint8Array, from: number, to: number, layer: number): number => {
    if (layer === layers - 1) return to
    let p = from
    while (p < to && bytes[p] !== SLASH) p++
    return p
  }
  // Algorithm 1 sets the bits; Algorithm 2 ends at the first that is not set, the first layer first.
  const walk = (bytes: Uint8Array, from: number, to: number, isAdding: boolean): boolean => {
    folded.fill(0)
    let p = from
    for (let layer = 0; layer < layers && p <= to; layer++) {
      const end = segmentEnd(bytes, p, to, layer)
      for (let j = 0; j < hashes; j++) {
        const address = hashOf(j, bytes, p, end) % m
        if (isAdding) all[layer]!.set(address)
        else if (!all[layer]!.has(address)) return false
        folded[j]! ^= address
      }
      p = end + 1
    }
    for (const address of folded) {
      if (isAdding) all[layers]!.set(address % m)
      else if (!all[layers]!.has(address % m)) return false
    }
    return true
  }
  return {
    add: (bytes, from, to) => void walk(bytes, from, to, true),
    has: (bytes, from, to) => walk(bytes, from, to, false),
  }
}

export interface SerialTime {
  readonly urls: number
  readonly queries: number
  readonly addSeconds: Readonly<Record<'classic' | 'multilayer', number>>
  readonly querySeconds: Readonly<Record<'classic' | 'multilayer', number>>
  readonly falsePositives: Readonly<Record<'classic' | 'multilayer', number>>
}

/** Seconds to add the first n URLs, and to query as many numbered ones, by n. The two filters take turns. */
export function serialTimes(lab: Lab, { urls }: Pieces, sizes: readonly number[], m: number): SerialTime[] {
  const filters = { classic: classicFilter(m), multilayer: multilayerFilter(m, PAPER.layers) }
  const names = ['classic', 'multilayer'] as const
  const adding = { classic: 0, multilayer: 0 }
  let added = 0
  warmUp(urls, m)
  return sizes.map((size, i) => {
    lab.progress((i + 0.5) / sizes.length, `byte by byte, ${count(size)} URLs`)
    for (; added < size; added = Math.min(size, added + CHUNK_URLS)) {
      const to = Math.min(size, added + CHUNK_URLS)
      for (const name of names) adding[name] += seconds(() => addAll(filters[name], urls, added, to))
    }
    const querying = { classic: 0, multilayer: 0 }
    const found = { classic: 0, multilayer: 0 }
    for (let from = 0; from < size; from += CHUNK_URLS) {
      const lines = numberedLines(urls, from, Math.min(size, from + CHUNK_URLS))
      for (const name of names)
        querying[name] += seconds(() => {
          found[name] += countFound(filters[name], lines)
        })
    }
    return {
      urls: size,
      queries: size,
      addSeconds: { ...adding },
      querySeconds: querying,
      falsePositives: found,
    }
  })
}

function warmUp(urls: BareUrls, m: number): void {
  const some = Math.min(urls.count, 20_000)
  const lines = numberedLines(urls, 0, some)
  for (const filter of [classicFilter(m), multilayerFilter(m, PAPER.layers)]) {
    addAll(filter, urls, 0, some)
    countFound(filter, lines)
  }
}

function addAll(filter: ByteSerial, { bytes, starts, ends }: BareUrls, from: number, to: number): void {
  for (let i = from; i < to; i++) filter.add(bytes, starts[i]!, ends[i]!)
}

function countFound(filter: ByteSerial, lines: Uint8Array): number {
  let found = 0
  let from = 0
  for (let p = 0; p < lines.length; p++) {
    if (lines[p] !== NEWLINE) continue
    if (filter.has(lines, from, p)) found++
    from = p + 1
  }
  return found
}

function seconds(work: () => void): number {
  const start = performance.now()
  work()
  return (performance.now() - start) / 1000
}

export function serialTable(times: readonly SerialTime[]): Table {
  const { insertionSeconds, querySeconds } = PAPER
  return {
    title: 'Fig. 6 and 7 as the paper ran them: k real hash functions, byte by byte',
    note: 'The same three functions for both, over every byte of the URL or of its segments, and Algorithm 2’s order of layers. Seconds are of this machine; the paper’s had 1.8 GHz. The bytes hashed are the same for both but for the slashes; multilayer touches five arrays where classic touches one. A query ends at the first bit that is not set: for the paper’s negatives that is the first function in classic, and the last segment in multilayer.',
    columns: [
      { name: 'n', as: 'count' },
      { name: 'classic insertion, s', as: 'time', timing: true },
      { name: 'multilayer insertion, s', as: 'time', timing: true },
      { name: 'ratio', as: 'ratio', timing: true },
      { name: 'printed insertion, s', as: 'text' },
      { name: 'printed ratio', as: 'ratio' },
      { name: 'classic query, s', as: 'time', timing: true },
      { name: 'multilayer query, s', as: 'time', timing: true },
      { name: 'query ratio', as: 'ratio', timing: true },
      { name: 'printed query, s', as: 'text' },
    ],
    rows: times.map(({ urls, addSeconds: add, querySeconds: query }, i) => [
      urls,
      add.classic,
      add.multilayer,
      add.multilayer / add.classic,
      `${insertionSeconds.classic[i]} and ${insertionSeconds.multilayer[i]}`,
      insertionSeconds.multilayer[i]! / insertionSeconds.classic[i]!,
      query.classic,
      query.multilayer,
      query.multilayer / query.classic,
      `about ${querySeconds[i]}`,
    ]),
  }
}

/** The ratios of multilayer to classic at the largest n. */
export function serialRatios(times: readonly SerialTime[]): { insertion: number; query: number } {
  const { addSeconds: add, querySeconds: query } = times.at(-1)!
  return { insertion: add.multilayer / add.classic, query: query.multilayer / query.classic }
}

export function serialSentence(
  times: readonly SerialTime[],
  ours: { readonly insertion: number; readonly query: number },
): string {
  const { insertion, query } = serialRatios(times)
  return `With k real hash functions over every byte, as the paper ran it, multilayer takes ${factor(insertion)} times as long as classic to insert and ${factor(query)} times to query (printed ${factor(70 / 55)} and within ${percent(0.03)}); ours takes ${factor(ours.insertion)} and ${factor(ours.query)} times, since it hashes eight bytes at a time and once for all k: what remains is the cost per segment and per array.`
}
