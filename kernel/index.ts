// What the kernel exports besides its filters; the build adds whatever the files in filters/ export. One instance holds
// one filter (or one shard of it) and the buffers of one batch. The path of a batch: reserveInput → findLines →
// canonicalise (or takeLinesAsKeys) → hashKeys → …Add / …Has.
import * as batch from './batch'
import * as commands from './commands'

export { setFilterEnd } from './memory'
export { reserveInput, reserveSpill, reserveOutput, reserveFeatures, reserveUrls } from './batch'
export { findLines, lineCursor, takeLinesAsKeys } from './lines'
export { keepFrom, keepLines, keptKeyBytes, keepKeys, countNew } from './keep'
export { canonicalise } from './canonical/url'
export { clearNames, addName, addBeginning, PARAMETER, PAGE } from './canonical/names'
export { HTTP_IS_HTTPS, ESCAPES, CRAWLEE, SCRAPY, AGGRESSIVE } from './canonical/rules'
export { readCommands, badLines, answerCommands } from './commands'
export { writtenHashes, writtenKeyBytes, writtenKeys } from './journal'
export { reserveParts, divideHashes, gatherVerdicts } from './parts'
export { countBits, isZero, uniteBits } from './bits'
export { setKey } from './families/siphash'
export { setHash, hashKeys, keyAddresses } from './hash'
export { setRules, addOne, hasOne } from './one'
export { makeFeatures } from './features'
export {
  pendingCreate, pendingClear, pendingAdd, pendingHas, pendingTake, pendingSeen, pendingSort, pendingNext, pendingRewind, pendingMarked,
  pendingCount,
} from './pending'
export {
  WAITING_BUCKETS, waitingCreate, waitingClear, waitingFits, waitingAdd, waitingOpen, waitingMark, waitingNext, waitingSettle, waitingTake, waitingCount,
} from './waiting'
export { checksum, runBuffer, runBegin, runExpect, runAppend, runEnd, runDecode, runScan, scannedCount, runCompare, runCheck, runMerge } from './runs'
export { unknownPieces } from './unknown-pieces'
export { knownRest } from './known-rest'
export { readForm } from './shapes/forms'
export { readTokens, tokenArrays } from './shapes/url-tokens'

// Where the batch's arrays lie: they never move.
export const batchLines = batch.BATCH
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
