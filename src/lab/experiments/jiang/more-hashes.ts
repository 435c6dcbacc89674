// "More hash functions stop helping": the rate against k at a fixed memory, with a good hash, with Jenkins' function and
// with the code that the paper prints for it. That adds the pointer `key` instead of the byte `key[i]`: whatever the pointer
// is, the value depends on the length of the URL alone.
import type { HashName } from '../../../hashes.ts'
import { classicRate } from '../../../sizing/classic.ts'
import type { Lab, Plot, Table } from '../../experiment.ts'
import {
  MEASURED_COLUMNS,
  type MeasuredRate,
  measuredCells,
  measuredRate,
  ratePoint,
  trial,
} from '../../trial.ts'
import { count } from '../../wording.ts'
import type { Source } from './measurement.ts'

export const AS_PRINTED = 'jenkins as printed'
const BITS_PER_URL = 16
const HASH_COUNTS = [1, 2, 3, 5, 8, 11, 16, 22]
const QUICK_HASH_COUNTS = [1, 3, 6, 11, 16]
/** Some address of a buffer. */
const POINTER = 0x55d0_1a40

export interface Growing {
  readonly source: Source
  readonly hash: string
  readonly bitsPerUrl: number
  readonly hashes: number
  readonly rate: MeasuredRate
  readonly expected: number
}

/** The function as it is printed, over a URL of this length; `start` makes several functions of it, as for the others. */
export function jenkinsAsPrinted(length: number, start: number): number {
  let hash = start
  for (let i = 0; i < length; i++) {
    hash = (hash + POINTER) | 0
    hash = (hash + (hash << 10)) | 0
    hash ^= hash >>> 6
  }
  hash = (hash + (hash << 3)) | 0
  hash ^= hash >>> 11
  return (hash + (hash << 15)) >>> 0
}

function lengthsOf(lines: Uint8Array): number[] {
  const lengths: number[] = []
  let from = 0
  for (let at = lines.indexOf(10); at >= 0; at = lines.indexOf(10, from)) {
    lengths.push(at - from)
    from = at + 1
  }
  return lengths
}

function printedRate(members: Uint8Array, strangers: Uint8Array, bits: number, hashes: number): MeasuredRate {
  const set = new Uint8Array(bits)
  const places = new Map<number, number[]>()
  const placesOf = (length: number) => {
    const known = places.get(length)
    if (known) return known
    const made = Array.from({ length: hashes }, (_, j) => jenkinsAsPrinted(length, j) % bits)
    places.set(length, made)
    return made
  }
  for (const length of lengthsOf(members)) for (const at of placesOf(length)) set[at] = 1
  const queries = lengthsOf(strangers)
  return measuredRate(
    queries.filter((length) => placesOf(length).every((at) => set[at] === 1)).length,
    queries.length,
  )
}

export async function moreHashes(
  lab: Lab,
  source: Source,
  depth: number,
  most: number,
  hashNames: readonly HashName[],
): Promise<Growing[]> {
  const bits = BITS_PER_URL * depth
  const queries = Math.min(most, source.count - depth)
  const [members, strangers] = [source.lines(0, depth), source.lines(depth, depth + queries)]
  const rows: Growing[] = []
  for (const hashes of lab.quick ? QUICK_HASH_COUNTS : HASH_COUNTS) {
    const row = (hash: string, rate: MeasuredRate): Growing => ({
      ...{ source, hash, bitsPerUrl: BITS_PER_URL, hashes, rate },
      expected: classicRate({ bits, hashes, urls: depth }),
    })
    for (const hash of hashNames) {
      const options = { filter: 'classic', hash, key: lab.key('jiang'), bits, hashes } as const
      rows.push(row(hash, (await trial(options, members, strangers, queries)).falsePositives))
    }
    rows.push(row(AS_PRINTED, printedRate(members, strangers, bits, hashes)))
  }
  return rows
}

export function growingTable(rows: readonly Growing[]): Table {
  return {
    title: `More hash functions at the same memory, m/n = ${BITS_PER_URL}`,
    note: `${rows.length > 0 ? `URLs of one site (${rows[0]!.source.name}), ${count(rows[0]!.rate.trials)} queries. ` : ''}The printed code adds key, not key[i]: it gives every URL of one length the same value, so that nothing helps.`,
    columns: [
      { name: 'hash', as: 'text' },
      { name: 'k', as: 'count' },
      ...MEASURED_COLUMNS,
      { name: 'formula', as: 'rate' },
    ],
    rows: rows.map(({ hash, hashes, rate, expected }) => [hash, hashes, ...measuredCells(rate), expected]),
  }
}

export function growingPlot(rows: readonly Growing[]): Plot {
  const names = [...new Set(rows.map(({ hash }) => hash))]
  return {
    title: `Rate against the number of hash functions, m/n = ${BITS_PER_URL}`,
    alt: 'False-positive rate against k, for a good hash, for Jenkins’ function and for the code that the paper prints.',
    x: { label: 'k' },
    y: { label: 'false-positive rate', log: true },
    kind: 'line',
    series: names.map((name) => ({
      name,
      points: rows.filter(({ hash }) => hash === name).map(({ hashes, rate }) => ratePoint(hashes, rate)),
    })),
  }
}
