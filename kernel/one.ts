// A batch of one, all the way in one call: a crossing for each step would cost more than the step itself. What it cannot
// do by itself it leaves undone, for the steps one by one.
import { keyEnds, keyStarts, lineEnds, lineStarts, verdicts } from './batch'
import { canonicalise } from './canonical'
import { blockedAdd, blockedHas } from './filters/blocked'
import { classicAdd, classicHas } from './filters/classic'
import { fingerprintAdd, fingerprintHas } from './filters/fingerprint'
import { hashKeys } from './hash'

/** Numbers that the filters in `src/filters/` know as their `inOneCall`; any other is `classic`. */
const FINGERPRINT: u32 = 0
const BLOCKED: u32 = 1

/** Instead of a verdict. */
const NOT_DONE: u32 = 2

let filter: u32 = FINGERPRINT
let rules: i32 = 0

/** Which filter the instance has, and the rules of `canonicalise`; -1: lines are keys. */
export function setOne(chosen: u32, keyRules: i32): void {
  filter = chosen
  rules = keyRules
}

// Makes the bytes [at, at + size) the batch's first line, and its key and hash. False: the platform is to make the key.
// @ts-ignore: decorator
@inline
function take(at: u32, size: u32): bool {
  store<u32>(lineStarts, at)
  store<u32>(lineEnds, at + size)
  if (rules < 0) {
    store<u32>(keyStarts, at)
    store<u32>(keyEnds, at + size)
  } else if (canonicalise(1, rules) != 0) {
    return false
  }
  hashKeys(1)
  return true
}

/** The verdict of adding a URL that lies at `at`: 1 new, 0 seen. 2: nothing was done but to make it a line. */
export function addOne(at: u32, size: u32): u32 {
  if (!take(at, size)) return NOT_DONE
  const done = filter == FINGERPRINT ? fingerprintAdd(0, 1) : filter == BLOCKED ? blockedAdd(0, 1) : classicAdd(0, 1)
  return done ? <u32>load<u8>(verdicts) : NOT_DONE
}

/** The same of asking. */
export function hasOne(at: u32, size: u32): u32 {
  if (!take(at, size)) return NOT_DONE
  if (filter == FINGERPRINT) fingerprintHas(0, 1)
  else if (filter == BLOCKED) blockedHas(0, 1)
  else classicHas(0, 1)
  return <u32>load<u8>(verdicts)
}
