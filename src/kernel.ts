// The sleeve around the WebAssembly module: compiles it once, makes an instance with its memory, and keeps the
// typed views fresh when that memory has grown. No logic lives here.
import { kernelBytes } from './kernel-bytes.ts'

/** What kernel/index.ts exports. Pointers and counts come back signed: `>>> 0` them. */
export interface KernelExports {
  readonly lineCursor: WebAssembly.Global
  reserveInput(bytes: number): number
  reserveSpill(bytes: number): number
  reserveOutput(bytes: number): number
  reserveFeatures(bytes: number): number
  makeFeatures(kind: number, n: number): number
  findLines(from: number, searched: number, to: number, last: number): number
  takeLinesAsKeys(n: number): void
  keepFrom(ptr: number): void
  keepLines(n: number, wanted: number): number
  keptKeyBytes(n: number, wanted: number): number
  keepKeys(n: number, wanted: number, to: number): void
  countNew(n: number): number
  canonicalise(n: number, rules: number): number
  setKey(lo: bigint, hi: bigint): void
  setHash(families: bigint, count: number, seed: bigint): void
  hashKeys(n: number): void
  fingerprintCreate(): number
  fingerprintAdd(from: number, n: number): number
  fingerprintHas(n: number): void
  fingerprintDelete(n: number): void
  fingerprintCount(): number
  fingerprintBytes(): number
  fingerprintSegment(at: number): number
  fingerprintDirectoryBits(): number
  fingerprintSegmentBytes(): number
  fingerprintMiddle(): number
  fingerprintCut(middle: number): void
  fingerprintAdopt(bits: number, slots: number): number
  fingerprintAdoptRoom(): number
  fingerprintAdopted(segment: number, from: number): void
  classicCreate(bits: bigint, hashes: number): number
  classicAdd(from: number, n: number): number
  classicHas(n: number): void
  classicOnes(): number
  classicBits(): number
  blockedCreate(blocks: bigint, hashes: number): number
  blockedAdd(from: number, n: number): number
  blockedHas(n: number): void
  blockedOnes(): number
  blockedBits(): number
  multilayerCreate(layers: number, bits: bigint, hashes: number, mode: number): number
  multilayerAdd(from: number, n: number): number
  multilayerHas(n: number): void
  multilayerLayers(): number
  multilayerOnes(layer: number): number
  multilayerLasts(layer: number): number
  multilayerBits(layer: number): number
  prefixLayersCreate(bits: bigint, hashes: number, folderHashes: number, layers: number): number
  prefixLayersAdd(from: number, n: number): number
  prefixLayersHas(n: number): void
  prefixLayersHasUnder(n: number): void
  prefixLayersOnes(): number
  prefixLayersFresh(layer: number): number
  prefixLayersBits(): number
  eigenvalueCreate(urlBits: bigint, featureBits: bigint, hashes: number, featureHashes: number): number
  eigenvalueAdd(from: number, n: number): number
  eigenvalueHas(n: number): void
  eigenvalueOnes(region: number): number
  eigenvalueBits(region: number): number
}

/** The most that one instance can address; a filter larger than this is spread over several instances. */
export const INSTANCE_BYTES = 4 * 1024 ** 3 - 65536

let compiled: Promise<WebAssembly.Module> | undefined

/** The module, compiled once for all instances. */
export function compileKernel(): Promise<WebAssembly.Module> {
  compiled ??= WebAssembly.compile(Uint8Array.from(atob(kernelBytes), (c) => c.charCodeAt(0)))
  return compiled
}

export class Kernel {
  readonly call: KernelExports
  /** Lines in one batch. */
  readonly batchLines: number
  lineStarts!: Uint32Array
  lineEnds!: Uint32Array
  keyStarts!: Uint32Array
  keyEnds!: Uint32Array
  featureStarts!: Uint32Array
  featureEnds!: Uint32Array
  hashes!: BigUint64Array
  verdicts!: Uint8Array
  unusual!: Uint32Array
  #bytes!: Uint8Array
  readonly #memory: WebAssembly.Memory

  private constructor(instance: WebAssembly.Instance, memory: WebAssembly.Memory) {
    this.call = instance.exports as unknown as KernelExports
    this.#memory = memory
    this.batchLines = this.#constant('batchLines')
    this.#view()
  }

  /** A new instance whose memory never exceeds `maximumBytes`. */
  static create(module: WebAssembly.Module, maximumBytes = INSTANCE_BYTES): Kernel {
    const maximum = Math.min(65536, Math.max(4, Math.ceil(maximumBytes / 65536)))
    const memory = new WebAssembly.Memory({ initial: 4, maximum })
    return new Kernel(new WebAssembly.Instance(module, { env: { memory } }), memory)
  }

  /** All of the memory. The view is good until the next call that may grow it: ask again after each call. */
  get bytes(): Uint8Array {
    if (this.#bytes.length === 0) this.#view()
    return this.#bytes
  }

  /** Call after anything that may have grown the memory, before touching the other views. */
  refresh(): void {
    if (this.#bytes.length === 0) this.#view()
  }

  #constant(name: string): number {
    return ((this.call as unknown as Record<string, WebAssembly.Global>)[name]!.value as number) >>> 0
  }

  #view(): void {
    const { buffer } = this.#memory
    const n = this.batchLines
    this.#bytes = new Uint8Array(buffer)
    this.lineStarts = new Uint32Array(buffer, this.#constant('lineStarts'), n)
    this.lineEnds = new Uint32Array(buffer, this.#constant('lineEnds'), n)
    this.keyStarts = new Uint32Array(buffer, this.#constant('keyStarts'), n)
    this.keyEnds = new Uint32Array(buffer, this.#constant('keyEnds'), n)
    this.featureStarts = new Uint32Array(buffer, this.#constant('featureStarts'), n)
    this.featureEnds = new Uint32Array(buffer, this.#constant('featureEnds'), n)
    this.hashes = new BigUint64Array(buffer, this.#constant('hashes'), n)
    this.verdicts = new Uint8Array(buffer, this.#constant('verdicts'), n)
    this.unusual = new Uint32Array(buffer, this.#constant('unusual'), n)
  }
}
