// The layered filters of the papers, written plainly: cen-2010's multi-layer filter (Algorithms 1 and 2), sharma's words dealt
// round-robin, jiang's second region for a feature, and our repair of the first with prefixes. One byte for each bit.
import { derived, spread } from './mix.ts'
import { siphash } from './siphash.ts'

const MOST_HASHES = 64
const decoder = new TextDecoder('latin1')
const encoder = { encode: (text: string) => Uint8Array.from(text, (c) => c.charCodeAt(0)) }

/** The k addresses of some bytes, one character for each, in an array of `bits`; each layer may have its own. */
export type Addresses = (piece: string, hashes: number, bits: number, layer: number) => number[]

/** Addresses by SipHash-1-3, as the kernel derives them. */
export const sipAddresses =
  (key: Uint8Array): Addresses =>
  (piece, hashes, bits, layer) => {
    const hash = siphash(key, encoder.encode(piece), { c: 1, d: 3 })
    return Array.from({ length: hashes }, (_, j) =>
      Number(spread(derived(hash, layer * MOST_HASHES + j), BigInt(bits))),
    )
  }

/** What follows `scheme://`; the key itself where a scheme does not come first. */
export function withoutScheme(key: string): string {
  return /^[^:/]{0,29}:\/\//.test(key) ? key.slice(key.indexOf('://') + 3) : key
}

const segmentsOf = (key: string) => withoutScheme(key).split('/')
const wordsOf = (key: string) => withoutScheme(key).match(/[a-zA-Z0-9\x80-\xff]+/g) ?? []

/** Sets bits; returns how many were not set. */
function mark(array: Uint8Array, addresses: readonly number[]): number {
  let fresh = 0
  for (const at of addresses) {
    fresh += 1 - array[at]!
    array[at] = 1
  }
  return fresh
}
const isMarked = (array: Uint8Array, addresses: readonly number[]) => addresses.every((at) => array[at] === 1)

export type Depth = 'join' | 'grow' | 'words'

export class MultilayerOracle {
  readonly layers: Uint8Array[]
  readonly xor: Uint8Array
  readonly #bits: number
  readonly #hashes: number
  readonly #depth: Depth
  readonly #addresses: Addresses

  constructor(layers: number, bits: number, hashes: number, depth: Depth, addresses: Addresses) {
    this.layers = Array.from({ length: layers }, () => new Uint8Array(bits))
    this.xor = new Uint8Array(bits)
    this.#bits = bits
    this.#hashes = hashes
    this.#depth = depth
    this.#addresses = addresses
  }

  #pieces(key: string): { layer: number; addresses: number[] }[] {
    const texts = this.#depth === 'words' ? wordsOf(key) : segmentsOf(key)
    const most = this.#depth === 'join' ? this.layers.length : this.#depth === 'grow' ? 64 : Infinity
    const joined =
      texts.length > most ? [...texts.slice(0, most - 1), texts.slice(most - 1).join('/')] : texts
    return joined.map((text, i) => ({
      layer: this.#depth === 'words' ? i % this.layers.length : i,
      addresses: this.#addresses(text, this.#hashes, this.#bits, 0),
    }))
  }

  #combined(pieces: readonly { addresses: number[] }[]): number[] {
    return Array.from({ length: this.#hashes }, (_, j) =>
      Number(pieces.reduce((sum, { addresses }) => sum ^ BigInt(addresses[j]!), 0n) % BigInt(this.#bits)),
    )
  }

  has(key: Uint8Array): boolean {
    const pieces = this.#pieces(decoder.decode(key))
    const isKnown = ({ layer, addresses }: { layer: number; addresses: number[] }) =>
      this.layers[layer] !== undefined && isMarked(this.layers[layer], addresses)
    return pieces.every(isKnown) && isMarked(this.xor, this.#combined(pieces))
  }

  /** True: it is new. */
  add(key: Uint8Array): boolean {
    const pieces = this.#pieces(decoder.decode(key))
    let fresh = 0
    for (const { layer, addresses } of pieces) {
      while (this.layers.length <= layer) this.layers.push(new Uint8Array(this.#bits))
      fresh += mark(this.layers[layer]!, addresses)
    }
    fresh += mark(this.xor, this.#combined(pieces))
    return fresh > 0
  }
}

export class PrefixLayersOracle {
  readonly bits: Uint8Array
  readonly #hashes: number
  readonly #folderHashes: number
  readonly #layers: number
  readonly #addresses: Addresses

  constructor(bits: number, hashes: number, folderHashes: number, layers: number, addresses: Addresses) {
    this.bits = new Uint8Array(bits)
    this.#hashes = hashes
    this.#folderHashes = folderHashes
    this.#layers = layers
    this.#addresses = addresses
  }

  /** `host/`, `host/a/`, `host/a/b/` …, as deep as there are layers; a query has no folders. */
  #folders(key: string): number[][] {
    const path = withoutScheme(key).split('?')[0]!
    const parts = path.split('/').slice(0, -1)
    return parts
      .slice(0, this.#layers)
      .map((_, i) =>
        this.#addresses(`${parts.slice(0, i + 1).join('/')}/`, this.#folderHashes, this.bits.length, i + 1),
      )
  }

  #whole(key: string): number[] {
    return this.#addresses(key, this.#hashes, this.bits.length, 0)
  }

  has(key: Uint8Array): boolean {
    return isMarked(this.bits, this.#whole(decoder.decode(key))) && this.hasUnder(key)
  }

  hasUnder(key: Uint8Array): boolean {
    return this.#folders(decoder.decode(key)).every((addresses) => isMarked(this.bits, addresses))
  }

  /** True: it is new. */
  add(key: Uint8Array): boolean {
    const text = decoder.decode(key)
    let fresh = mark(this.bits, this.#whole(text))
    for (const addresses of this.#folders(text)) fresh += mark(this.bits, addresses)
    return fresh > 0
  }
}

/** The feature functions g, by name. */
export const features: Readonly<Record<string, (key: string) => string>> = {
  'host-initials'(key) {
    const [host] = withoutScheme(key)
      .replace(/^www\.(?=.)/s, '')
      .split(/[/?:]/)
    const initials = [...host!].filter((_, i) => i === 0 || host![i - 1] === '.')
    return initials.slice(0, Math.max(1, initials.length - 1)).join('')
  },
  'path-shape'(key) {
    const rest = withoutScheme(key)
    const slash = rest.indexOf('/')
    const path = slash < 0 ? '' : rest.slice(slash).split('?')[0]!
    return path.replace(/[a-zA-Z\x80-\xff]+/g, 'a').replace(/[0-9]+/g, '0')
  },
  'last-segment': (key) => withoutScheme(key).split('?')[0]!.split('/').at(-1)!,
  digits: (key) => withoutScheme(key).replace(/[^0-9]/g, ''),
}

export class EigenvalueOracle {
  readonly urls: Uint8Array
  readonly features: Uint8Array
  readonly #hashes: number
  readonly #featureHashes: number
  readonly #feature: (key: string) => string
  readonly #addresses: Addresses

  constructor(
    size: { urlBits: number; featureBits: number; hashes: number; featureHashes: number },
    feature: (key: string) => string,
    addresses: Addresses,
  ) {
    this.urls = new Uint8Array(size.urlBits)
    this.features = new Uint8Array(size.featureBits)
    this.#hashes = size.hashes
    this.#featureHashes = size.featureHashes
    this.#feature = feature
    this.#addresses = addresses
  }

  #places(key: Uint8Array): [number[], number[]] {
    const text = decoder.decode(key)
    const feature = this.#feature(text)
    return [
      this.#addresses(text, this.#hashes, this.urls.length, 0),
      this.#addresses(feature, this.#featureHashes, this.features.length, 1),
    ]
  }

  has(key: Uint8Array): boolean {
    const [own, feature] = this.#places(key)
    return isMarked(this.urls, own) && isMarked(this.features, feature)
  }

  /** True: it is new. */
  add(key: Uint8Array): boolean {
    const [own, feature] = this.#places(key)
    return mark(this.urls, own) + mark(this.features, feature) > 0
  }
}
