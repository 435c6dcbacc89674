/** What kernel/index.ts exports. Pointers and counts come back signed: `>>> 0` them. */
export interface KernelExports {
    readonly lineCursor: WebAssembly.Global;
    reserveInput(bytes: number): number;
    reserveSpill(bytes: number): number;
    reserveOutput(bytes: number): number;
    reserveFeatures(bytes: number): number;
    reserveUrls(bytes: number): number;
    makeFeatures(kind: number, from: number, n: number): number;
    findLines(from: number, searched: number, to: number, last: number): number;
    takeLinesAsKeys(n: number): void;
    keepFrom(ptr: number): void;
    keepLines(n: number, wanted: number): number;
    keptKeyBytes(n: number, wanted: number): number;
    keepKeys(n: number, wanted: number, to: number): void;
    countNew(from: number, n: number): number;
    canonicalise(n: number, rules: number): number;
    readonly badLines: WebAssembly.Global;
    readCommands(n: number): number;
    answerCommands(from: number, n: number, out: number): number;
    writtenHashes(from: number, n: number, wanted: number, to: number): number;
    writtenKeyBytes(from: number, n: number, wanted: number): number;
    writtenKeys(from: number, n: number, wanted: number, to: number): number;
    countBits(at: number, bytes: number): bigint;
    uniteBits(to: number, from: number, bytes: number): void;
    setKey(lo: bigint, hi: bigint): void;
    setHash(families: bigint, count: number, seed: bigint): void;
    hashKeys(n: number): void;
    fingerprintCreate(): number;
    fingerprintAdd(from: number, n: number): number;
    fingerprintHas(from: number, n: number): void;
    fingerprintDelete(n: number): void;
    fingerprintCount(): number;
    fingerprintBytes(): number;
    fingerprintSegment(at: number): number;
    fingerprintDirectoryBits(): number;
    fingerprintSegmentBytes(): number;
    fingerprintMiddle(): number;
    fingerprintCut(middle: number): void;
    fingerprintAdoptSlots(slots: number): void;
    fingerprintAdopt(bits: number, from: number, to: number): number;
    fingerprintAdoptRoom(): number;
    fingerprintAdopted(segment: number): void;
    fingerprintFirst(): number;
    fingerprintLast(): number;
    classicCreate(bits: bigint, hashes: number): number;
    classicAdd(from: number, n: number): number;
    classicHas(from: number, n: number): void;
    classicOnes(): number;
    classicRestored(): void;
    classicBits(): number;
    blockedCreate(blocks: bigint, hashes: number): number;
    blockedAdd(from: number, n: number): number;
    blockedHas(from: number, n: number): void;
    blockedOnes(): number;
    blockedRestored(): void;
    blockedBits(): number;
    binaryFuseCreate(bits: number, segmentLength: number, segments: number, seed: bigint): number;
    binaryFuseReserve(bits: number, segmentLength: number, segments: number, keys: number): number;
    binaryFuseBuild(attempt: number): number;
    binaryFuseSeed(): bigint;
    binaryFuseFingerprints(): number;
    binaryFuseHas(from: number, n: number): void;
    multilayerCreate(layers: number, bits: bigint, hashes: number, mode: number): number;
    multilayerAdd(from: number, n: number): number;
    multilayerHas(from: number, n: number): void;
    multilayerLayers(): number;
    multilayerOnes(layer: number): number;
    multilayerLasts(layer: number): number;
    multilayerReach(layers: number): number;
    multilayerRestored(): void;
    multilayerSetLasts(layer: number, count: number): void;
    multilayerBits(layer: number): number;
    prefixLayersCreate(bits: bigint, hashes: number, folderHashes: number, layers: number): number;
    prefixLayersAdd(from: number, n: number): number;
    prefixLayersHas(from: number, n: number): void;
    prefixLayersHasUnder(n: number): void;
    prefixLayersOnes(): number;
    prefixLayersFresh(layer: number): number;
    prefixLayersRestored(): void;
    prefixLayersSetFresh(layer: number, count: number): void;
    prefixLayersBits(): number;
    eigenvalueCreate(urlBits: bigint, featureBits: bigint, hashes: number, featureHashes: number): number;
    eigenvalueAdd(from: number, n: number): number;
    eigenvalueHas(from: number, n: number): void;
    eigenvalueOnes(region: number): number;
    eigenvalueRestored(): void;
    eigenvalueBits(region: number): number;
}
/** The most that one instance can address; a filter larger than this is spread over several instances. */
export declare const INSTANCE_BYTES: number;
/** The module, compiled once for all instances. */
export declare function compileKernel(): Promise<WebAssembly.Module>;
export declare class Kernel {
    #private;
    readonly call: KernelExports;
    /** Lines in one batch. */
    readonly batchLines: number;
    /** The longest answer to a command is so much longer than its URL. */
    readonly answerBytes: number;
    lineStarts: Uint32Array;
    lineEnds: Uint32Array;
    keyStarts: Uint32Array;
    keyEnds: Uint32Array;
    featureStarts: Uint32Array;
    featureEnds: Uint32Array;
    hashes: BigUint64Array;
    verdicts: Uint8Array;
    unusual: Uint32Array;
    commandOps: Uint8Array;
    commandOffsets: Uint32Array;
    badOffsets: Uint32Array;
    badStarts: Uint32Array;
    badEnds: Uint32Array;
    /** Who has half a line waiting in the input buffer. */
    inputOwner: {
        stash(): void;
    } | null;
    private constructor();
    /** A new instance whose memory never exceeds `maximumBytes`. */
    static create(module: WebAssembly.Module, maximumBytes?: number): Kernel;
    /** Another instance of the same module. */
    sibling(): Kernel;
    /** All of the memory. The view is good until the next call that may grow it: ask again after each call. */
    get bytes(): Uint8Array;
    /** Call after anything that may have grown the memory, before touching the other views. */
    refresh(): void;
}
