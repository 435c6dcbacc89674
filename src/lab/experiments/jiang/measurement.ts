// The measurements of jiang-eigenvalue's experiment: a filter of some URLs of a source, queried for the URLs behind them.
import type { FeatureName } from '../../../filters/eigenvalue.ts'
import type { HashName } from '../../../hashes.ts'
import { classicRate } from '../../../sizing/classic.ts'
import { eigenvalueHashes } from '../../../sizing/eigenvalue.ts'
import type { Lab } from '../../experiment.ts'
import { type MeasuredRate, trial } from '../../trial.ts'

/** The paper names no k: 3 has a rate that can be counted, and d/k = 1/3 is then d = 1. */
export const HASHES = 3
export const PAPER_BITS = 32
export const WEAK: HashName = 'jenkins'
export const STRONG: HashName = 'siphash'
export const HASH_NAMES: readonly HashName[] = [WEAK, 'md5', STRONG]

export interface Source {
  readonly name: string
  /** Whether they are of one site. */
  readonly similar: boolean
  readonly count: number
  lines(from: number, to: number): Uint8Array
}

export interface Structure {
  readonly name: string
  readonly filter: 'classic' | 'eigenvalue'
  /** All of its memory, as a factor of m. */
  readonly memory: number
  readonly hashes: number
  readonly features?: FeatureName
}

export interface Row {
  readonly source: Source
  readonly hash: HashName
  readonly depth: number
  readonly bitsPerUrl: number
  readonly structure: Structure
  readonly rate: MeasuredRate
  readonly expected: number
}

export const MORE = 4 / 3
export const classic = (memory: number, hashes: number): Structure => ({
  name: `classic, ${memory === 1 ? 'm' : '4m/3'}, k = ${hashes}`,
  filter: 'classic',
  memory,
  hashes,
})
export const classicM = classic(1, HASHES)
/**
 * With the extension's memory and as many bits set, k + d: what the two regions would be if g distinguished all URLs,
 * since k/m1 = d/m2 fills both alike.
 */
export const rivals = [MORE, 1].map((memory) =>
  classic(memory, HASHES + eigenvalueHashes({ hashes: HASHES })),
)
export const [classicMore] = rivals as [Structure]
export const extended = (features: FeatureName, memory: number): Structure => ({
  name: `eigenvalue, ${memory === 1 ? 'm' : '4m/3'}, ${features}`,
  filter: 'eigenvalue',
  memory,
  hashes: HASHES,
  features,
})
/** The paper's own: host initials, and a third more memory. */
export const paperExtended = extended('host-initials', MORE)

export async function measure(
  lab: Lab,
  source: Source,
  hash: HashName,
  structure: Structure,
  bitsPerUrl: number,
  depth: number,
  most: number,
): Promise<Row> {
  const queries = Math.min(most, source.count - depth)
  const bits = Math.round(structure.memory * bitsPerUrl * depth)
  const { falsePositives } = await trial(
    {
      filter: structure.filter,
      hash,
      key: lab.key('jiang'),
      bits,
      hashes: structure.hashes,
      ...(structure.features && { features: structure.features }),
    },
    source.lines(0, depth),
    source.lines(depth, depth + queries),
    queries,
  )
  const urlBits = structure.filter === 'classic' ? bits : bits - Math.floor(bits / 4)
  const expected = classicRate({ bits: urlBits, hashes: structure.hashes, urls: depth })
  return { source, hash, depth, bitsPerUrl, structure, rate: falsePositives, expected }
}
