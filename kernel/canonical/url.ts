// Canonicalisation of the usual http(s) URL, byte for byte as the WHATWG URL Standard serialises it, without its
// fragment: scheme and host in lower case, default port dropped, dot segments resolved. Whatever is not plainly
// usual (other schemes, user names, numeric or international hosts, characters that need escaping, %2e) is left
// to the platform: `canonicalise` lists those lines and the caller fills in their keys.
import { keyEnds, keyStarts, lineEnds, lineStarts, reserveArena, SLACK, unusual } from '../batch'
import { classesOf, mark } from './byte-classes'
import { normaliseEscapes } from './escapes'
import { dropNumberedWww } from './host'
import { countUnwise, escapeUnwise, rewritePath } from './path'
import { rewriteQuery, SCRATCH_BYTES, setScratch } from './query'
import { AGGRESSIVE, HTTP_IS_HTTPS, MOST_REWRITTEN, REWRITTEN, SCRAPY, UNUSUAL } from './rules'
import { copyDotted, copyTail, DOTS, queryAt, seen, SEEN_ESCAPES } from './tail'

/** "https://" and "http://", as they lie in memory. */
const HTTPS: u64 = 0x2f2f3a7370747468
const HTTP: u64 = 0x2f2f3a70747468

// Host characters.
const LETTER: u8 = 1 | 2
const hostHigh: usize = memory.data(16, 16)
const hostLow: usize = memory.data(16, 16)

function prepare(): void {
  mark(hostHigh, hostLow, 1, 1 << 4 | 1 << 6, 0xfffe) // A–O a–o
  mark(hostHigh, hostLow, 2, 1 << 5 | 1 << 7, 0x07ff) // P–Z p–z
  mark(hostHigh, hostLow, 4, 1 << 3, 0x03ff) // 0–9
  mark(hostHigh, hostLow, 8, 1 << 2, 1 << 0xd | 1 << 0xe) // - .
  mark(hostHigh, hostLow, 16, 1 << 5, 1 << 0xf) // _
}
prepare()

// @ts-ignore: decorator
@inline
function hostKinds(v: v128): v128 {
  return classesOf(v, v128.load(hostHigh), v128.load(hostLow))
}

// @ts-ignore: decorator
@inline
function lowered(v: v128, kinds: v128): v128 {
  const letters = i8x16.ne(v128.and(kinds, i8x16.splat(LETTER)), i8x16.splat(0))
  return v128.or(v, v128.and(letters, i8x16.splat(0x20)))
}

// @ts-ignore: decorator
@inline
function both(a: v128, b: v128): u64 {
  return <u64>i8x16.bitmask(a) | <u64>i8x16.bitmask(b) << 16
}

// Writes the key of the line [p, end) to `out`; returns the key's end, or UNUSUAL. The key is at most two bytes longer than
// the line, or three times its length when it is rewritten; up to 63 bytes more may be written.
function canonicalOne(p: usize, end: usize, out: usize, rules: u32): usize {
  while (p < end && load<u8>(p) <= 0x20) p++
  while (end > p && load<u8>(end - 1) <= 0x20) end--
  if (end - p < 8 || (rules & REWRITTEN && end - p > MOST_REWRITTEN)) return UNUSUAL
  const head = load<u64>(p)
  const isHttps = <u32>((head | 0x2020202020) == HTTPS)
  const isHttp = <u32>(((head | 0x20202020) & 0x00ffffffffffffff) == HTTP)
  if (!(isHttps | isHttp)) return UNUSUAL
  p += 7 + isHttps
  const asHttps = isHttps | (rules & HTTP_IS_HTTPS)
  store<u64>(out, asHttps ? HTTPS : HTTP)
  out += 7 + asHttps

  const host = out
  let label: usize = out
  let hyphen: u64 = 0
  while (true) {
    const v = v128.load(p)
    const w = v128.load(p, 16)
    const first = hostKinds(v)
    const second = hostKinds(w)
    v128.store(out, lowered(v, first))
    v128.store(out, lowered(w, second), 16)
    const zero = i8x16.splat(0)
    const others = both(i8x16.eq(first, zero), i8x16.eq(second, zero)) | 0x100000000
    const size = min(<usize>ctz(others), end - p)
    const within = ((<u64>1) << <u64>size) - 1
    const dot = i8x16.splat(0x2e)
    const dots = both(i8x16.eq(v, dot), i8x16.eq(w, dot)) & within
    label = dots ? out + 64 - <usize>clz(dots) : label
    const dash = i8x16.splat(0x2d)
    const hyphens = both(i8x16.eq(v, dash), i8x16.eq(w, dash)) & within
    if (hyphens & (hyphens << 1 | hyphen)) return UNUSUAL // xn-- and its like
    hyphen = hyphens >> 31
    p += size
    out += size
    if (size < 32) break
  }
  const size = out - host
  if (size == 0 || size > 63 || label == out) return UNUSUAL
  if (<u32>load<u8>(label) - 0x30 < 10) return UNUSUAL // the last label may be a number

  if (rules & AGGRESSIVE) out = dropNumberedWww(host, out)

  let c: u8
  c = p < end ? load<u8>(p) : 0x2f
  if (c == 0x3a) {
    const colon = p++
    let port: u32 = 0
    while (p < end && <u32>load<u8>(p) - 0x30 < 10 && p - colon <= 5) {
      port = port * 10 + load<u8>(p) - 0x30
      p++
    }
    if (port > 65535) return UNUSUAL
    const digits = p - colon - 1
    if (digits > 0) {
      if (load<u8>(colon, 1) == 0x30) return UNUSUAL
      const isDefault = isHttps ? port == 443 : port == 80 || (rules & HTTP_IS_HTTPS && port == 443)
      if (!isDefault || rules & SCRAPY) {
        store<u64>(out, load<u64>(colon))
        out += digits + 1
      }
    }
    c = p < end ? load<u8>(p) : 0x2f
  }

  const path = out
  if (p == end || c == 0x3f || c == 0x23) {
    store<u8>(out++, 0x2f)
    out = copyTail(p, end, out, rules)
  } else if (c == 0x2f) {
    out = copyTail(p, end, path, rules)
    if (out == DOTS) out = copyDotted(p, end, path, rules)
  } else {
    return UNUSUAL
  }
  if (out == UNUSUAL) return UNUSUAL
  if (rules & REWRITTEN) {
    let query = queryAt ? queryAt : out
    if (rules & AGGRESSIVE) {
      query += 2 * countUnwise(path, query)
      out = escapeUnwise(path, out)
    }
    const end = rewritePath(path, query, rules)
    return query == out ? end : rewriteQuery(query, out, end, rules)
  }
  return seen & SEEN_ESCAPES ? normaliseEscapes(path, out) : out
}

/**
 * Writes the keys of the batch's `n` lines. Returns how many lines are unusual and listed for the caller, or -1
 * when the instance has no room for the keys.
 */
export function canonicalise(n: u32, rules: u32): i32 {
  if (!n) return 0
  const first = load<u32>(lineStarts)
  const bytes = <usize>load<u32>(lineEnds + (<usize>(n - 1) << 2)) - first + 2 * <usize>n
  const isRewritten = (rules & REWRITTEN) != 0
  const most: usize = isRewritten ? 3 * min<usize>(bytes, <usize>n * MOST_REWRITTEN) : bytes
  let out = reserveArena(most + SLACK + (isRewritten ? SCRATCH_BYTES : 0))
  if (!out) return -1
  setScratch(out + most + SLACK)
  let odd = 0
  for (let i: u32 = 0; i < n; i++) {
    const at = <usize>i << 2
    const end = canonicalOne(load<u32>(lineStarts + at), load<u32>(lineEnds + at), out, rules)
    if (end == UNUSUAL) {
      store<u32>(unusual + (<usize>odd << 2), i)
      odd++
      continue
    }
    store<u32>(keyStarts + at, <u32>out)
    store<u32>(keyEnds + at, <u32>end)
    out = end
  }
  return odd
}
