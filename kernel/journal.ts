// What a store writes down of a batch: the hashes, or the keys, of the entries with a given verdict.
import { hashes, keyEnds, keyStarts, verdicts } from './batch'

/** Writes to `to` the hashes of entries [from, n) whose verdict is `wanted`; returns how many. */
export function writtenHashes(from: u32, n: u32, wanted: u32, to: usize): u32 {
  let count: u32 = 0
  for (let i = from; i < n; i++) {
    store<u64>(to + (<usize>count << 3), load<u64>(hashes + (<usize>i << 3)))
    count += <u32>(<u32>load<u8>(verdicts + <usize>i) == wanted)
  }
  return count
}

/** How many bytes `writtenKeys` will write. */
export function writtenKeyBytes(from: u32, n: u32, wanted: u32): usize {
  let bytes: usize = 0
  for (let i = from; i < n; i++) {
    if (<u32>load<u8>(verdicts + <usize>i) != wanted) continue
    bytes += 4 + load<u32>(keyEnds + (<usize>i << 2)) - load<u32>(keyStarts + (<usize>i << 2))
  }
  return bytes
}

/** Writes to `to` the keys of entries [from, n) whose verdict is `wanted`, each behind its length; returns how many. */
export function writtenKeys(from: u32, n: u32, wanted: u32, to: usize): u32 {
  let count: u32 = 0
  for (let i = from; i < n; i++) {
    if (<u32>load<u8>(verdicts + <usize>i) != wanted) continue
    const start = <usize>load<u32>(keyStarts + (<usize>i << 2))
    const size = <usize>load<u32>(keyEnds + (<usize>i << 2)) - start
    store<u32>(to, <u32>size)
    memory.copy(to + 4, start, size)
    to += 4 + size
    count++
  }
  return count
}
