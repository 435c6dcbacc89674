// Where a key's bits lie, layer by layer, as the kernel itself computes it: in an instance of its own, which holds an empty
// filter of the same plan. Shows which layer decided and which bits two URLs share.
import type { Filter, FilterKind, OwnInstances } from '../../../src/filters/filter.ts'
import { applyHash, type HashChoice } from '../../../src/hashes.ts'
import { type FilterName, filters, type Plan, type Sieve } from '../../../src/index.ts'
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

const XOR_ARRAY = 64
/** `host-initials` in kernel/features.ts: the paper's, and the default. */
const HOST_INITIALS = 0

/** Enough for every generation that the page shows. */
const OWN: OwnInstances = { bytes: 2 ** 26, spreads: true }

const encoder = new TextEncoder()
const decoder = new TextDecoder()

export class Prober {
  readonly #sieve: Sieve
  readonly #kernel: Kernel
  /** Nothing stays in it: what an add sets is cleared again. */
  readonly #empty: Filter

  private constructor(sieve: Sieve, kernel: Kernel, empty: Filter) {
    this.#sieve = sieve
    this.#kernel = kernel
    this.#empty = empty
  }

  static async create(sieve: Sieve): Promise<Prober> {
    const kernel = Kernel.create(await compileKernel())
    applyHash(kernel, sieve[STATE].hash as HashChoice)
    const kind: FilterKind = filters[sieve.plan.filter as FilterName]
    return new Prober(sieve, kernel, kind.create(kernel, sieve.plan, 1, OWN))
  }

  /** What each layer is asked for a key. */
  probes(key: string): Probe[] {
    const { plan } = this.#sieve
    this.#take(key)
    if (plan.filter === 'multilayer' || plan.filter === 'keyword-layers') return this.#layers(plan)
    if (plan.filter === 'prefix-layers') return this.#prefixes(plan)
    if (plan.filter === 'eigenvalue') return this.#regions(plan, key)
    if (plan.filter === 'classic')
      return [{ layer: 'bits', piece: key, array: 0, cells: this.#addresses(plan.hashes!, plan.bits!) }]
    if (plan.filter === 'blocked') return [{ layer: 'block', piece: key, array: 0, cells: this.#block() }]
    if (plan.filter === 'scalable')
      return panelsOf(this.#sieve).map(({ array, name, cells, hashes }) => ({
        layer: name,
        piece: key,
        array,
        cells: this.#addresses(hashes!, cells),
      }))
    return this.#slot()
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

  #layers({ hashes, shape }: Plan): Probe[] {
    const { call } = this.#kernel
    const layers = shape!.layers as number
    const count = call.multilayerLook()
    this.#kernel.refresh()
    const { buffer } = this.#kernel.bytes
    const ends = new Uint32Array(buffer, call.multilayerPieces() >>> 0, 2 * count)
    const located = this.#cellsAt(call.multilayerLocated(), (count + 1) * hashes!)
    const cells = (piece: number) => located.slice(piece * hashes!, (piece + 1) * hashes!)
    const probes: Probe[] = Array.from({ length: count }, (_, i) => ({
      layer: `layer ${(i % layers) + 1}`,
      piece: decoder.decode(this.#kernel.bytes.subarray(ends[2 * i], ends[2 * i + 1])),
      array: i % layers,
      cells: cells(i),
    }))
    return [
      ...probes,
      { layer: 'XOR layer', piece: 'all of them together', array: XOR_ARRAY, cells: cells(count) },
    ]
  }

  #prefixes({ hashes, shape }: Plan): Probe[] {
    const { call } = this.#kernel
    const layers = this.#empty.layers!()
    return layers.map(({ name, of }, i) => {
      const isWhole = i === layers.length - 1
      const at = call.prefixLayersLook(isWhole ? 0 : i + 1)
      const cells = this.#cellsAt(at, isWhole ? hashes! : (shape!.folderHashes as number))
      return { layer: name, piece: of, array: 0, cells }
    })
  }

  #regions({ hashes, shape }: Plan, key: string): Probe[] {
    const url = this.#addresses(hashes!, shape!.urlBits as number)
    const feature = this.#feature()
    this.#take(feature)
    const second = this.#addresses(shape!.featureHashes as number, shape!.featureBits as number, 1)
    return [
      { layer: 'region of URLs', piece: key, array: 0, cells: url },
      { layer: 'region of features', piece: feature, array: 1, cells: second },
    ]
  }

  // The bits that an add to the empty filter sets; they are cleared again.
  #block(): number[] {
    const kernel = this.#kernel
    kernel.call.hashKeys(1)
    this.#empty.add(0, 1)
    const [{ set, cells }] = this.#empty.cells!() as [Panel]
    const at = kernel.call.blockedBits() >>> 0
    kernel.bytes.fill(0, at, at + set.length)
    const found: number[] = []
    for (let cell = 0; cell < cells; cell++) if (isSet(set, cell)) found.push(cell)
    return found
  }

  // The slot that holds the hash; no cell when there is none.
  #slot(): Probe[] {
    this.#kernel.call.hashKeys(1)
    const hash = this.#kernel.hashes[0]!
    const found = this.#sieve[STATE].shards.all[0]!.filter.find?.(hash)
    const piece = `0x${hash.toString(16).padStart(16, '0')}`
    return [{ layer: 'slots', piece, array: found?.array ?? 0, cells: found ? [found.cell] : [] }]
  }

  /** The k addresses of the batch's key in an array, under the hash functions of a layer. */
  #addresses(k: number, size: number, layer = 0): number[] {
    return this.#cellsAt(this.#kernel.call.keyAddresses(0, k, BigInt(size), layer), k)
  }

  #cellsAt(at: number, count: number): number[] {
    return Array.from(new BigUint64Array(this.#kernel.bytes.buffer, at >>> 0, count), Number)
  }

  #feature(): string {
    const kernel = this.#kernel
    kernel.call.makeFeatures(HOST_INITIALS, 0, 1)
    kernel.refresh()
    return decoder.decode(kernel.bytes.subarray(kernel.featureStarts[0], kernel.featureEnds[0]))
  }

  // Makes a text the only key of the kernel's batch.
  #take(text: string): void {
    const kernel = this.#kernel
    const bytes = encoder.encode(text)
    const at = kernel.call.reserveUrls(bytes.length) >>> 0
    kernel.refresh()
    kernel.bytes.set(bytes, at)
    kernel.lineStarts[0] = at
    kernel.lineEnds[0] = at + bytes.length
    kernel.call.takeLinesAsKeys(1)
  }
}
