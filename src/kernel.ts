// The sleeve around the WebAssembly module: compiles it once, makes an instance with its memory, and keeps the
// typed views fresh when that memory has grown. No logic lives here.
import { SieveError } from './errors.ts'
import { kernelBytes } from './kernel-bytes.ts'

/** What kernel/index.ts exports. Pointers and counts come back signed: `>>> 0` them. */
export interface KernelExports {
  readonly lineCursor: WebAssembly.Global
  setFilterEnd(bytes: number): void
  reserveInput(bytes: number): number
  reserveSpill(bytes: number): number
  reserveOutput(bytes: number): number
  reserveFeatures(bytes: number): number
  reserveUrls(bytes: number): number
  makeFeatures(kind: number, from: number, n: number): number
  findLines(from: number, searched: number, to: number, last: number): number
  takeLinesAsKeys(n: number): void
  keepFrom(ptr: number): void
  keepLines(n: number, wanted: number): number
  keptKeyBytes(n: number, wanted: number): number
  keepKeys(n: number, wanted: number, to: number): void
  countNew(from: number, n: number): number
  canonicalise(n: number, rules: number): number
  readonly badLines: WebAssembly.Global
  readCommands(n: number): number
  answerCommands(from: number, n: number, out: number): number
  writtenHashes(from: number, n: number, wanted: number, to: number): number
  writtenKeyBytes(from: number, n: number, wanted: number): number
  writtenKeys(from: number, n: number, wanted: number, to: number): number
  countBits(at: number, bytes: number): bigint
  isZero(at: number, bytes: number): number
  uniteBits(to: number, from: number, bytes: number): void
  setKey(lo: bigint, hi: bigint): void
  setHash(families: bigint, count: number, seed: bigint): void
  hashKeys(n: number): void
  setOne(filter: number, rules: number): void
  addOne(at: number, size: number): number
  hasOne(at: number, size: number): number
  fingerprintCreate(): number
  fingerprintAdd(from: number, n: number): number
  fingerprintHas(from: number, n: number): void
  fingerprintDelete(n: number): void
  fingerprintCount(): number
  fingerprintBytes(): number
  fingerprintSegment(at: number): number
  fingerprintDirectoryBits(): number
  fingerprintSegmentBytes(): number
  fingerprintMiddle(): number
  fingerprintCut(middle: number): void
  fingerprintAdoptSlots(slots: number): void
  fingerprintAdopt(bits: number, from: number, to: number): number
  fingerprintAdoptRoom(): number
  fingerprintTakeRoom(): number
  fingerprintSetFirst(from: number): void
  fingerprintRefine(): number
  fingerprintIsSound(segment: number, bits: number): number
  fingerprintAdopted(segment: number): void
  fingerprintFirst(): number
  fingerprintLast(): number
  classicCreate(bits: bigint, hashes: number): number
  classicAdd(from: number, n: number): number
  classicHas(from: number, n: number): void
  classicOnes(): number
  classicSetOnes(count: number): void
  classicBits(): number
  blockedCreate(blocks: bigint, hashes: number): number
  blockedAdd(from: number, n: number): number
  blockedHas(from: number, n: number): void
  blockedOnes(): number
  blockedSetOnes(count: number): void
  blockedBits(): number
  binaryFuseCreate(bits: number, segmentLength: number, segments: number, seed: bigint): number
  binaryFuseReserve(bits: number, segmentLength: number, segments: number, keys: number): number
  binaryFuseBuild(attempt: number): number
  binaryFuseSeed(): bigint
  binaryFuseFingerprints(): number
  binaryFuseHas(from: number, n: number): void
  multilayerCreate(layers: number, bits: bigint, hashes: number, mode: number): number
  multilayerAdd(from: number, n: number): number
  multilayerHas(from: number, n: number): number
  multilayerLayers(): number
  multilayerLook(): number
  multilayerPieces(): number
  multilayerKnows(piece: number): number
  multilayerOnes(layer: number): number
  multilayerLasts(layer: number): number
  multilayerReach(layers: number): number
  multilayerSetOnes(layer: number, count: number): void
  multilayerSetLasts(layer: number, count: number): void
  multilayerBits(layer: number): number
  prefixLayersCreate(bits: bigint, hashes: number, folderHashes: number, layers: number): number
  prefixLayersAdd(from: number, n: number): number
  prefixLayersHas(from: number, n: number): void
  prefixLayersHasUnder(n: number): void
  prefixLayersOnes(): number
  prefixLayersFresh(layer: number): number
  prefixLayersSetOnes(count: number): void
  prefixLayersSetFresh(layer: number, count: number): void
  prefixLayersBits(): number
  eigenvalueCreate(urlBits: bigint, featureBits: bigint, hashes: number, featureHashes: number): number
  eigenvalueAdd(from: number, n: number): number
  eigenvalueHas(from: number, n: number): void
  eigenvalueOnes(region: number): number
  eigenvalueSetOnes(region: number, count: number): void
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

/** What `addOne` and `hasOne` answer when the steps are to be done one by one. */
export const NOT_DONE = 2

export class Kernel {
  readonly call: KernelExports
  /** Lines in one batch. */
  readonly batchLines: number
  /** The longest answer to a command is so much longer than its URL. */
  readonly answerBytes: number
  lineStarts!: Uint32Array
  lineEnds!: Uint32Array
  keyStarts!: Uint32Array
  keyEnds!: Uint32Array
  featureStarts!: Uint32Array
  featureEnds!: Uint32Array
  hashes!: BigUint64Array
  verdicts!: Uint8Array
  unusual!: Uint32Array
  commandOps!: Uint8Array
  commandOffsets!: Uint32Array
  badOffsets!: Uint32Array
  badStarts!: Uint32Array
  badEnds!: Uint32Array
  #bytes!: Uint8Array
  /** Who has half a line waiting in the input buffer. */
  inputOwner: { stash(): void } | null = null
  readonly module: WebAssembly.Module
  readonly #memory: WebAssembly.Memory

  private constructor(module: WebAssembly.Module, memory: WebAssembly.Memory) {
    const instance = new WebAssembly.Instance(module, { env: { memory } })
    this.module = module
    this.call = instance.exports as unknown as KernelExports
    this.#memory = memory
    this.batchLines = this.#constant('batchLines')
    this.answerBytes = this.#constant('answerBytes')
    this.#view()
  }

  /** A new instance whose memory never exceeds `maximumBytes`, in whole pages of 64 KiB. */
  static create(module: WebAssembly.Module, maximumBytes = INSTANCE_BYTES): Kernel {
    const maximum = Math.min(65536, Math.max(4, Math.ceil(maximumBytes / 65536)))
    try {
      const memory = new WebAssembly.Memory({ initial: 4, maximum })
      return new Kernel(module, memory)
    } catch (error) {
      if (!(error instanceof RangeError)) throw error
      throw new SieveError('memory', `no memory left for another WebAssembly instance: ${error.message}`)
    }
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
    this.commandOps = new Uint8Array(buffer, this.#constant('commandOps'), n)
    this.commandOffsets = new Uint32Array(buffer, this.#constant('commandOffsets'), n)
    this.badOffsets = new Uint32Array(buffer, this.#constant('badOffsets'), n)
    this.badStarts = new Uint32Array(buffer, this.#constant('badStarts'), n)
    this.badEnds = new Uint32Array(buffer, this.#constant('badEnds'), n)
  }
}
