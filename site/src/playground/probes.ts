// Where a key's bits lie, layer by layer: the kernel's own hash of each piece, and the arithmetic of kernel/mix.ts and
// kernel/filters on it. Tells which layer decided and which bits two URLs share.
import { applyHash, type HashChoice } from '../../../src/hashes.ts'
import type { Plan, Sieve } from '../../../src/index.ts'
import { compileKernel, Kernel } from '../../../src/kernel.ts'
import { STATE } from '../../../src/state.ts'
import { isSet, type Panel, panelsOf } from './panels.ts'

/** What one layer is asked for a key. */
export interface Probe {
  readonly layer: string
  /** The piece of the key that is hashed for it. */
  readonly piece: string
  /** The panel's array. */
  readonly array: number
  readonly cells: readonly number[]
}

export interface Answer extends Probe {
  /** Of its cells, those that are not set: none means that this layer says "seen". */
  readonly missing: readonly number[]
}

/** Whether a layer says "seen". */
export const passes = ({ cells, missing }: Answer): boolean => cells.length > 0 && missing.length === 0

/** A key's place in every layer, and what follows. */
export interface Placement {
  readonly answers: readonly Answer[]
  readonly verdict: 'new' | 'seen'
  /** Generations: any of them may say "seen"; layers: all of them have to. */
  readonly anyDecides: boolean
}

const MOST_HASHES = 64
const BLOCK_BITS = 512n
const POSITIONS_A_HASH = 7
const XOR_ARRAY = 64
const MOST_SEGMENTS = 64
/** `host-initials` in kernel/features.ts: the paper's, and the default. */
const HOST_INITIALS = 0

const encoder = new TextEncoder()
const decoder = new TextDecoder()
const u64 = (x: bigint) => BigInt.asUintN(64, x)

/** The j-th hash derived from one. */
function derived(h: bigint, j: number): bigint {
  let x = u64(h + BigInt(j + 1) * 0x9e3779b97f4a7c15n)
  x = u64((x ^ (x >> 30n)) * 0xbf58476d1ce4e5b9n)
  x = u64((x ^ (x >> 27n)) * 0x94d049bb133111ebn)
  return x ^ (x >> 31n)
}

const spread = (x: bigint, size: number): number => Number((x * BigInt(size)) >> 64n)

/** The k addresses in an array, under the hash functions of a layer. */
const addresses = (h: bigint, k: number, size: number, layer = 0): number[] =>
  Array.from({ length: k }, (_, j) => spread(derived(h, layer * MOST_HASHES + j), size))

const afterScheme = (key: string): string => key.replace(/^[^:/]{0,29}:\/\//, '')

function segmentsOf(key: string, layers: number): string[] {
  const all = afterScheme(key).split('/')
  const most = Math.min(layers, MOST_SEGMENTS)
  return all.length <= most ? all : [...all.slice(0, most - 1), all.slice(most - 1).join('/')]
}

const wordsOf = (key: string): string[] => afterScheme(key).match(/[a-z0-9\u0080-\u{10ffff}]+/giu) ?? []

/** The folders a1/…/ai/ of a key, the host's first. */
function foldersOf(key: string, layers: number): string[] {
  const path = afterScheme(key).split('?')[0]!
  const folders: string[] = []
  for (let at = path.indexOf('/'); at >= 0 && folders.length < layers; at = path.indexOf('/', at + 1))
    folders.push(path.slice(0, at + 1))
  return folders
}

/** Hashes pieces as a sieve does, in a kernel of its own. */
export class Prober {
  readonly #sieve: Sieve
  readonly #kernel: Kernel

  private constructor(sieve: Sieve, kernel: Kernel) {
    this.#sieve = sieve
    this.#kernel = kernel
  }

  static async create(sieve: Sieve): Promise<Prober> {
    const kernel = Kernel.create(await compileKernel())
    applyHash(kernel, sieve[STATE].hash as HashChoice)
    return new Prober(sieve, kernel)
  }

  /** What each layer is asked for a key. */
  probes(key: string): Probe[] {
    const { plan } = this.#sieve
    const k = plan.hashes!
    if (plan.filter === 'multilayer' || plan.filter === 'keyword-layers') return this.#layers(plan, key)
    if (plan.filter === 'prefix-layers') return this.#prefixes(plan, key)
    const [h] = this.#hash([key])
    if (plan.filter === 'classic')
      return [{ layer: 'bits', piece: key, array: 0, cells: addresses(h!, k, plan.bits!) }]
    if (plan.filter === 'blocked')
      return [{ layer: 'block', piece: key, array: 0, cells: blockCells(h!, k, plan.bits!) }]
    if (plan.filter === 'eigenvalue') return this.#regions(plan, key, h!)
    if (plan.filter === 'scalable')
      return panelsOf(this.#sieve).map(({ array, name, cells, hashes }) => ({
        layer: name,
        piece: key,
        array,
        cells: addresses(h!, hashes!, cells),
      }))
    return this.#slot(h!)
  }

  /** Asks the panels, as they were read, for a key. */
  place(key: string, panels: readonly Panel[]): Placement {
    const anyDecides = this.#sieve.plan.filter === 'scalable'
    const answers = this.probes(key).map((probe) => {
      const { set } = panels.find(({ array }) => array === probe.array)!
      return { ...probe, missing: probe.cells.filter((cell) => !isSet(set, cell)) }
    })
    const isSeen = anyDecides ? answers.some(passes) : answers.every(passes)
    return { answers, verdict: isSeen ? 'seen' : 'new', anyDecides }
  }

  #layers({ filter, hashes, shape }: Plan, key: string): Probe[] {
    const layers = shape!.layers as number
    const size = shape!.bitsPerLayer as number
    const pieces = filter === 'multilayer' ? segmentsOf(key, layers) : wordsOf(key)
    const whole = Array.from({ length: hashes! }, () => 0n)
    const probes: Probe[] = [...this.#hash(pieces)].map((h, i) => {
      const cells = addresses(h, hashes!, size)
      cells.forEach((cell, j) => {
        whole[j]! ^= BigInt(cell)
      })
      const array = i % layers
      return { layer: `layer ${array + 1}`, piece: pieces[i]!, array, cells }
    })
    const cells = whole.map((xor) => Number(xor % BigInt(size)))
    return [...probes, { layer: 'XOR layer', piece: 'all of them together', array: XOR_ARRAY, cells }]
  }

  #prefixes({ bits, hashes, shape }: Plan, key: string): Probe[] {
    const folders = foldersOf(key, shape!.layers as number)
    const [whole, ...each] = this.#hash([key, ...folders])
    return [
      ...each.map((h, i) => ({
        layer: `folders of depth ${i + 1}`,
        piece: folders[i]!,
        array: 0,
        cells: addresses(h, shape!.folderHashes as number, bits!, i + 1),
      })),
      { layer: 'whole keys', piece: key, array: 0, cells: addresses(whole!, hashes!, bits!) },
    ]
  }

  #regions({ hashes, shape }: Plan, key: string, h: bigint): Probe[] {
    const feature = this.#feature(key)
    const [g] = this.#hash([feature])
    const url = addresses(h, hashes!, shape!.urlBits as number)
    const second = addresses(g!, shape!.featureHashes as number, shape!.featureBits as number, 1)
    return [
      { layer: 'region of URLs', piece: key, array: 0, cells: url },
      { layer: 'region of features', piece: feature, array: 1, cells: second },
    ]
  }

  // The slot that holds the hash; no cell when there is none.
  #slot(h: bigint): Probe[] {
    const found = this.#sieve[STATE].shards.all[0]!.filter.find?.(h)
    const piece = `0x${h.toString(16).padStart(16, '0')}`
    return [{ layer: 'slots', piece, array: found?.array ?? 0, cells: found ? [found.cell] : [] }]
  }

  // The kernel's 64-bit hash of each piece.
  #hash(pieces: readonly string[]): BigUint64Array {
    this.#take(pieces)
    this.#kernel.call.hashKeys(pieces.length)
    return this.#kernel.hashes.slice(0, pieces.length)
  }

  #feature(key: string): string {
    this.#take([key])
    const kernel = this.#kernel
    kernel.call.makeFeatures(HOST_INITIALS, 0, 1)
    kernel.refresh()
    return decoder.decode(kernel.bytes.subarray(kernel.featureStarts[0], kernel.featureEnds[0]))
  }

  // Makes the pieces the keys of the kernel's batch.
  #take(pieces: readonly string[]): void {
    const kernel = this.#kernel
    const all = pieces.map((piece) => encoder.encode(piece))
    let at = kernel.call.reserveUrls(all.reduce((sum, piece) => sum + piece.length, 0)) >>> 0
    kernel.refresh()
    for (const [i, piece] of all.entries()) {
      kernel.bytes.set(piece, at)
      kernel.lineStarts[i] = at
      at += piece.length
      kernel.lineEnds[i] = at
    }
    kernel.call.takeLinesAsKeys(pieces.length)
  }
}

function blockCells(h: bigint, k: number, bits: number): number[] {
  const rotated = u64((h << 32n) | (h >> 32n))
  const block = BigInt(spread(rotated, bits / Number(BLOCK_BITS))) * BLOCK_BITS
  return Array.from({ length: k }, (_, i) => {
    const positions = derived(h, Math.floor(i / POSITIONS_A_HASH))
    return Number(block + ((positions >> BigInt(9 * (i % POSITIONS_A_HASH))) % BLOCK_BITS))
  })
}
