// A batch of one, all steps in one call: a crossing for each step would cost more than the step itself. What it cannot
// do it leaves undone, for the steps one by one.
import { keyEnds, keyStarts, lineEnds, lineStarts, verdicts } from './batch'
import { canonicalise } from './canonical/url'
import { hashKeys } from './hash'

/** Instead of a verdict. */
const NOT_DONE: u32 = 2

/** The add and has of the instance's filter, as places in the module's function table; 0: there is none. */
let add: u32 = 0
let has: u32 = 0
let rules: i32 = 0

/** A filter that takes hashes calls this when it is created, with `index` of its add (0 if frozen) and has. */
export function takesOne(addIndex: u32, hasIndex: u32): void {
  add = addIndex
  has = hasIndex
}

/** The rules of `canonicalise`; -1: lines are keys. */
export function setRules(keyRules: i32): void {
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
  if (!add || !take(at, size)) return NOT_DONE
  return call_indirect<u32>(add, <u32>0, <u32>1) ? <u32>load<u8>(verdicts) : NOT_DONE
}

/** The verdict of a query, in the same way. */
export function hasOne(at: u32, size: u32): u32 {
  if (!has || !take(at, size)) return NOT_DONE
  call_indirect<void>(has, <u32>0, <u32>1)
  return <u32>load<u8>(verdicts)
}
