// Made by scripts/build-kernel.mjs from kernel/.

/** What the kernel exports. Pointers and counts come back signed: `>>> 0` them. */
export interface KernelExports {
  readonly batchLines: WebAssembly.Global
  readonly lineStarts: WebAssembly.Global
  readonly lineEnds: WebAssembly.Global
  readonly keyStarts: WebAssembly.Global
  readonly keyEnds: WebAssembly.Global
  readonly featureStarts: WebAssembly.Global
  readonly featureEnds: WebAssembly.Global
  readonly hashes: WebAssembly.Global
  readonly verdicts: WebAssembly.Global
  readonly unusual: WebAssembly.Global
  readonly commandOps: WebAssembly.Global
  readonly commandOffsets: WebAssembly.Global
  readonly badOffsets: WebAssembly.Global
  readonly badStarts: WebAssembly.Global
  readonly badEnds: WebAssembly.Global
  readonly answerBytes: WebAssembly.Global
  setFilterEnd(bytes: number): void
  reserveInput(bytes: number): number
  reserveSpill(bytes: number): number
  reserveOutput(bytes: number): number
  reserveFeatures(bytes: number): number
  reserveUrls(bytes: number): number
  findLines(from: number, searched: number, to: number, last: number): number
  readonly lineCursor: WebAssembly.Global
  takeLinesAsKeys(n: number): void
  keepFrom(ptr: number): void
  keepLines(n: number, wanted: number): number
  keptKeyBytes(n: number, wanted: number): number
  keepKeys(n: number, wanted: number, to: number): void
  countNew(from: number, n: number): number
  canonicalise(n: number, rules: number): number
  readCommands(n: number): number
  readonly badLines: WebAssembly.Global
  answerCommands(from: number, n: number, out: number): number
  writtenHashes(from: number, n: number, wanted: number, to: number): number
  writtenKeyBytes(from: number, n: number, wanted: number): number
  writtenKeys(from: number, n: number, wanted: number, to: number): number
  countBits(p: number, bytes: number): bigint
  isZero(p: number, bytes: number): number
  uniteBits(to: number, from: number, bytes: number): void
  setKey(lo: bigint, hi: bigint): void
  setHash(chosen: bigint, count: number, chosenSeed: bigint): void
  hashKeys(n: number): void
  setRules(keyRules: number): void
  addOne(at: number, size: number): number
  hasOne(at: number, size: number): number
  makeFeatures(kind: number, from: number, n: number): number
  binaryFuseCreate(chosenBits: number, segmentLength: number, segments: number, chosenSeed: bigint): number
  binaryFuseReserve(chosenBits: number, segmentLength: number, segments: number, n: number): number
  binaryFuseBuild(attempt: number): number
  binaryFuseSeed(): bigint
  binaryFuseFingerprints(): number
  binaryFuseHas(from: number, n: number): void
  blockedCreate(n: bigint, k: number): number
  blockedAdd(from: number, n: number): number
  blockedHas(from: number, n: number): void
  blockedOnes(): number
  blockedSetOnes(count: number): void
  blockedBits(): number
  classicCreate(m: bigint, k: number): number
  classicAdd(from: number, n: number): number
  classicHas(from: number, n: number): void
  classicOnes(): number
  classicSetOnes(count: number): void
  classicBits(): number
  eigenvalueCreate(m1: bigint, m2: bigint, k: number, d: number): number
  eigenvalueAdd(from: number, n: number): number
  eigenvalueHas(from: number, n: number): void
  eigenvalueOnes(region: number): number
  eigenvalueSetOnes(region: number, count: number): void
  eigenvalueBits(region: number): number
  fingerprintSegment(at: number): number
  fingerprintFirst(): number
  fingerprintLast(): number
  fingerprintDirectoryBits(): number
  fingerprintSegmentBytes(): number
  fingerprintMiddle(): number
  fingerprintCut(middle: number): void
  fingerprintAdoptSlots(slots: number): void
  fingerprintAdopt(bits: number, from: number, to: number): number
  fingerprintAdoptRoom(): number
  fingerprintIsSound(segment: number, bits: number): number
  fingerprintTakeRoom(): number
  fingerprintSetFirst(from: number): void
  fingerprintRefine(): number
  fingerprintAdopted(segment: number): void
  fingerprintCreate(): number
  fingerprintAdd(from: number, n: number): number
  fingerprintHas(from: number, n: number): void
  fingerprintDelete(n: number): void
  fingerprintCount(): number
  fingerprintBytes(): number
  multilayerCreate(L: number, m: bigint, k: number, chosenMode: number): number
  multilayerReach(wanted: number): number
  multilayerAdd(from: number, n: number): number
  multilayerHas(from: number, n: number): number
  multilayerLook(): number
  multilayerPieces(): number
  multilayerKnows(piece: number): number
  multilayerLayers(): number
  multilayerOnes(layer: number): number
  multilayerSetOnes(layer: number, count: number): void
  multilayerSetLasts(layer: number, count: number): void
  multilayerLasts(layer: number): number
  multilayerBits(layer: number): number
  prefixLayersCreate(m: bigint, k: number, kf: number, L: number): number
  prefixLayersAdd(from: number, n: number): number
  prefixLayersHas(from: number, n: number): void
  prefixLayersHasUnder(n: number): void
  prefixLayersOnes(): number
  prefixLayersFresh(layer: number): number
  prefixLayersSetOnes(count: number): void
  prefixLayersSetFresh(layer: number, count: number): void
  prefixLayersBits(): number
}
