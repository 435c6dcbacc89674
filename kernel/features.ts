// The feature functions g of the eigenvalue filter (jiang-eigenvalue): what of a URL is hashed a second time.
// Each writes the feature of the key [from, to) to `out`, never more bytes than the key has, and returns its end.
import { featureEnds, featureStarts, keyEnds, keyStarts, reserveFeatures } from './batch'
import { afterScheme } from './segments'

/** Numbers that `src/filters/eigenvalue.ts` names. */
const HOST_INITIALS: u32 = 0
const PATH_SHAPE: u32 = 1
const LAST_SEGMENT: u32 = 2

// The paper's: the first character of each label of the host, without a leading www and without the last label
// (www.x1x2x3.x4x5x6.x7x8x9.com gives x1 x4 x7); a host of one label keeps its own.
function hostInitials(p: usize, to: usize, out: usize): usize {
  if (to - p > 4 && load<u32>(p) == 0x2e777777) p += 4 // www.
  const first = out
  let isFirst = true
  for (; p < to; p++) {
    const c = load<u8>(p)
    if (c == 0x2f || c == 0x3f || c == 0x3a) break
    if (isFirst) store<u8>(out++, c)
    isFirst = c == 0x2e
  }
  return out - first > 1 ? out - 1 : out
}

// The path with every run of letters as one 'a' and every run of digits as one '0'.
function pathShape(p: usize, to: usize, out: usize): usize {
  while (p < to && load<u8>(p) != 0x2f) p++
  let before: u8 = 0
  for (; p < to && load<u8>(p) != 0x3f; p++) {
    let c = load<u8>(p)
    if (c >= 0x80 || <u32>(c | 0x20) - 0x61 < 26) c = 0x61
    else if (<u32>c - 0x30 < 10) c = 0x30
    else before = 0
    if (c != before) store<u8>(out++, c)
    before = c == 0x61 || c == 0x30 ? c : 0
  }
  return out
}

// What follows the last slash of the path, up to the query.
function lastSegment(p: usize, to: usize, out: usize): usize {
  let start = p
  for (; p < to && load<u8>(p) != 0x3f; p++) if (load<u8>(p) == 0x2f) start = p + 1
  memory.copy(out, start, p - start)
  return out + (p - start)
}

// Every digit of the key, in order.
function digits(p: usize, to: usize, out: usize): usize {
  for (; p < to; p++) {
    const c = load<u8>(p)
    if (<u32>c - 0x30 < 10) store<u8>(out++, c)
  }
  return out
}

function featureOf(kind: u32, from: usize, to: usize, out: usize): usize {
  const p = afterScheme(from, to)
  if (kind == HOST_INITIALS) return hostInitials(p, to, out)
  if (kind == PATH_SHAPE) return pathShape(p, to, out)
  if (kind == LAST_SEGMENT) return lastSegment(p, to, out)
  return digits(p, to, out)
}

/** Writes the features of keys [from, n). False when there is no room. */
export function makeFeatures(kind: u32, from: u32, n: u32): bool {
  let bytes: usize = 0
  for (let i = from; i < n; i++) bytes += load<u32>(keyEnds + (<usize>i << 2)) - load<u32>(keyStarts + (<usize>i << 2))
  let out = reserveFeatures(bytes)
  if (!out) return false
  for (let i = from; i < n; i++) {
    const at = <usize>i << 2
    const end = featureOf(kind, load<u32>(keyStarts + at), load<u32>(keyEnds + at), out)
    store<u32>(featureStarts + at, <u32>out)
    store<u32>(featureEnds + at, <u32>end)
    out = end
  }
  return true
}
