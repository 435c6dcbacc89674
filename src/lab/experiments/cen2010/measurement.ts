// The measurement: URLs added to all filters, the negatives of the paper, and the negatives that it left out.
import { Sieve, type SieveOptions, type Stats } from '../../../sieve.ts'
import { ones } from '../../counted.ts'
import type { Lab } from '../../experiment.ts'
import { Folders } from '../../folders.ts'
import { keptLines } from '../../line-writer.ts'
import {
  numberedLines,
  numberedPieceLines,
  orderBlindLines,
  type Pieces,
  pieceLines,
  recombinedLines,
} from '../../negatives.ts'
import { ownRate } from '../../own-rate.ts'
import { Stopwatch } from '../../stopwatch.ts'
import { count } from '../../wording.ts'
import { KEYS, PAPER } from './paper.ts'

const CHUNK_URLS = 1 << 17
/** URLs of each kind of negatives that the paper left out. */
const LEFT_OUT = 200_000

/** A filter under test, and its time so far. */
export interface Contender {
  readonly filter: 'classic' | 'multilayer' | 'blocked' | 'prefix-layers'
  /** Memory in multiples of the paper's m. */
  readonly share: 1 | 5
  readonly sieve: Sieve
  readonly adding: Stopwatch
}

/** The results of one contender at one n. */
export interface Answer {
  readonly contender: Contender
  readonly urls: number
  readonly queries: number
  /** Of those, how many have a last segment that its layer knows by chance. */
  readonly knownLast: number
  /** The mean false positives of classic over all its keys, this one among them. */
  readonly mean: number | null
  /** False positives that the corrected prediction expects, of multilayer. */
  readonly predicted: number | null
  readonly falsePositives: number
  readonly addSeconds: number
  readonly querySeconds: number
  readonly stats: Stats
}

export interface Kind {
  readonly name: string
  readonly lines: Uint8Array
  readonly count: number
}

export async function contenders(lab: Lab, urls: number, bits: number): Promise<Contender[]> {
  const all = bits * (PAPER.layers + 1)
  const { hashes, layers } = PAPER
  const make = async (share: 1 | 5, options: SieveOptions<Contender['filter']>) => ({
    filter: options.filter,
    share,
    sieve: (await Sieve.create({ ...options, profile: 'raw', key: lab.key('cen2010') })) as Sieve,
    adding: new Stopwatch(),
  })
  return [
    await make(1, { filter: 'classic', bits, hashes }),
    await make(5, { filter: 'multilayer', bitsPerLayer: bits, hashes, layers, depth: 'join' }),
    await make(5, { filter: 'classic', bits: all, expectedUrls: urls }),
    await make(5, { filter: 'blocked', bits: all, expectedUrls: urls }),
    await make(5, { filter: 'prefix-layers', bits: all, expectedUrls: urls }),
  ]
}

/** Classic with the paper's setting, with other keys. */
export function repeats(lab: Lab, bits: number): Promise<Sieve[]> {
  return Promise.all(
    Array.from({ length: KEYS - 1 }, (_, i) => {
      const key = lab.key(`cen2010, key ${i + 2}`)
      return Sieve.create({ filter: 'classic', bits, hashes: PAPER.hashes, profile: 'raw', key })
    }),
  )
}

export interface Measured {
  readonly all: readonly Contender[]
  /** Classic with other keys: the same queries, not timed. */
  readonly again: readonly Sieve[]
  /** The URLs added so far, exactly. */
  readonly known: Sieve
  readonly knownPieces: Sieve
}

// Adds the URLs up to each n, and queries the paper's negatives of all of them. Each chunk goes through all filters, so
// that whatever slows the machine slows each of them.
export function measure(
  lab: Lab,
  pieces: Pieces,
  sizes: readonly number[],
  { all, again, known, knownPieces }: Measured,
): Answer[] {
  const { urls } = pieces
  const folders = new Folders(pieces)
  const answers: Answer[] = []
  let added = 0
  sizes.forEach((size, stage) => {
    lab.progress(stage / (sizes.length + 1), `${count(size)} URLs`)
    while (added < size) {
      const to = Math.min(size, added + CHUNK_URLS)
      const lines = urls.lines(added, to)
      known.addLines(lines)
      knownPieces.addLines(pieceLines(pieces, added, to))
      for (const { sieve, adding } of all) adding.time(() => sieve.addLines(lines))
      for (const sieve of again) sieve.addLines(lines)
      added = to
    }
    folders.reach(size)
    const querying = all.map(() => new Stopwatch())
    const falsePositives = all.map(() => 0)
    let queries = 0
    let knownLast = 0
    let others = 0
    for (let from = 0; from < size; from += CHUNK_URLS) {
      const to = Math.min(size, from + CHUNK_URLS)
      const negatives = unknown(known, numberedLines(urls, from, to))
      queries += negatives.count
      knownLast += ones(knownPieces.hasLines(numberedPieceLines(pieces, from, to)))
      all.forEach(({ sieve }, i) => {
        falsePositives[i]! += ones(querying[i]!.time(() => sieve.hasLines(negatives.lines)))
      })
      for (const sieve of again) others += ones(sieve.hasLines(negatives.lines))
    }
    all.forEach((contender, i) => {
      const stats = contender.sieve.stats()
      answers.push({
        contender,
        urls: size,
        queries,
        knownLast,
        falsePositives: falsePositives[i]!,
        mean: contender.share === 1 ? (falsePositives[i]! + others) / (again.length + 1) : null,
        addSeconds: contender.adding.seconds,
        querySeconds: querying[i]!.seconds,
        stats,
        predicted: predict(stats, folders, queries, knownLast),
      })
    })
  })
  return answers
}

// Without the negatives that are URLs of the set (`/v1` and number 2 make `/v12`): finding one is not an error.
function unknown(known: Sieve, lines: Uint8Array): { lines: Uint8Array; count: number } {
  const isKnown = known.hasLines(lines)
  return ones(isKnown) === 0
    ? { lines, count: isKnown.length }
    : keptLines(
        lines,
        isKnown.map((is) => 1 - is),
      )
}

export async function kindsLeftOut(lab: Lab, pieces: Pieces, known: Sieve): Promise<Kind[]> {
  const most = Math.min(LEFT_OUT, pieces.urls.count)
  const { swapped, repeated } = await orderBlindLines(lab, pieces, most)
  const mixed = recombinedLines(pieces, most, lab.random('cen2010 recombined'))
  const once = await Sieve.create({ profile: 'raw', key: lab.key('cen2010 once') })
  const recombined = keptLines(mixed, once.addLines(mixed)).lines
  return [
    { name: 'recombined', ...unknown(known, recombined) },
    { name: 'swapped', ...unknown(known, swapped) },
    { name: 'repeated', ...unknown(known, repeated) },
  ]
}

// The expected false positives: only the XOR layer can reject a negative whose last segment is known by chance; for the
// others both its layer and the XOR layer can, which pass together for pages of one large folder.
function predict(stats: Stats, folders: Folders, queries: number, knownLast: number): number | null {
  if (!stats.rates || !stats.layers) return null
  const { hashes } = PAPER
  const fills = stats.layers.slice(0, -1).map(({ fill }) => fill)
  const { recombined } = stats.rates as { recombined: number }
  const bits = Math.round((stats.sizeBytes * 8) / stats.layers.length)
  const fresh = folders.expected({ bits, hashes, fills, xorHit: recombined ** (1 / hashes) })
  return fresh * (1 - knownLast / queries) + recombined * knownLast
}

export interface LeftOut {
  readonly kind: Kind
  readonly contender: Contender
  readonly falsePositives: number
  readonly predicted: number | null
}

export function queryLeftOut(kinds: readonly Kind[], all: readonly Contender[]): LeftOut[] {
  return kinds.flatMap((kind) =>
    all
      .filter(({ share }) => share === 5)
      .map((contender) => {
        const stats = contender.sieve.stats()
        const recombined = stats.rates?.recombined ?? ownRate(stats)
        return {
          kind,
          contender,
          falsePositives: ones(contender.sieve.hasLines(kind.lines)),
          predicted: contender.filter !== 'multilayer' || kind.name === 'recombined' ? recombined : 1,
        }
      }),
  )
}
