// The whole ABI of the kernel. One instance holds one filter (or one shard of it) and the buffers of one batch.
// The way of a batch: reserveInput → findLines → canonicalise (or takeLinesAsKeys) → hashKeys → …Add / …Has.
import * as batch from './batch'
import * as commands from './commands'

export { setFilterEnd } from './memory'
export { reserveInput, reserveSpill, reserveOutput, reserveFeatures, reserveUrls } from './batch'
export { findLines, lineCursor, takeLinesAsKeys, keepFrom, keepLines, keptKeyBytes, keepKeys, countNew } from './lines'
export { canonicalise } from './canonical'
export { readCommands, badLines, answerCommands } from './commands'
export { writtenHashes, writtenKeyBytes, writtenKeys, countBits, isZero, uniteBits } from './journal'
export { setKey } from './families/siphash'
export { setHash, hashKeys } from './hash'
export { setOne, addOne, hasOne } from './one'
export {
  fingerprintCreate, fingerprintAdd, fingerprintHas, fingerprintDelete,
  fingerprintCount, fingerprintBytes, fingerprintSegment, fingerprintDirectoryBits, fingerprintSegmentBytes,
  fingerprintFirst, fingerprintLast, fingerprintMiddle, fingerprintCut, fingerprintAdoptSlots, fingerprintAdopt, fingerprintAdoptRoom, fingerprintTakeRoom, fingerprintSetFirst, fingerprintRefine, fingerprintIsSound, fingerprintAdopted,
} from './filters/fingerprint'
export { classicCreate, classicAdd, classicHas, classicOnes, classicSetOnes, classicBits } from './filters/classic'
export { makeFeatures } from './features'
export { eigenvalueCreate, eigenvalueAdd, eigenvalueHas, eigenvalueOnes, eigenvalueSetOnes, eigenvalueBits } from './filters/eigenvalue'
export {
  multilayerCreate, multilayerAdd, multilayerHas, multilayerLayers, multilayerLook, multilayerPieces, multilayerKnows, multilayerOnes, multilayerLasts,
  multilayerReach, multilayerSetOnes, multilayerSetLasts, multilayerBits,
} from './filters/multilayer'
export {
  prefixLayersCreate, prefixLayersAdd, prefixLayersHas, prefixLayersHasUnder,
  prefixLayersOnes, prefixLayersFresh, prefixLayersSetOnes, prefixLayersSetFresh, prefixLayersBits,
} from './filters/prefix-layers'
export {
  binaryFuseCreate, binaryFuseReserve, binaryFuseBuild, binaryFuseSeed, binaryFuseFingerprints, binaryFuseHas,
} from './filters/binary-fuse'
export { blockedCreate, blockedAdd, blockedHas, blockedOnes, blockedSetOnes, blockedBits } from './filters/blocked'

// Where the batch's arrays lie: they never move.
export const batchLines = batch.BATCH
export const slackBytes = batch.SLACK
export const lineStarts = batch.lineStarts
export const lineEnds = batch.lineEnds
export const keyStarts = batch.keyStarts
export const keyEnds = batch.keyEnds
export const featureStarts = batch.featureStarts
export const featureEnds = batch.featureEnds
export const hashes = batch.hashes
export const verdicts = batch.verdicts
export const unusual = batch.unusual
export const commandOps = commands.commandOps
export const commandOffsets = commands.commandOffsets
export const badOffsets = commands.badOffsets
export const badStarts = commands.badStarts
export const badEnds = commands.badEnds
export const answerBytes = commands.ANSWER
