// Percent-escapes as RFC 3986, section 6.2.2, has them: those of unreserved characters (letters, digits, -._~) decoded,
// the others in capitals. What is reserved stays escaped.

/** No escape: it is not a byte. */
export const NO_ESCAPE: u32 = 256

/** The byte that the '%' at `p` and its two digits stand for, or NO_ESCAPE. */
// @ts-ignore: decorator
@inline
export function escapedByte(p: usize, end: usize): u32 {
  if (p + 2 >= end) return NO_ESCAPE
  const high = hexDigit(load<u8>(p, 1))
  const low = hexDigit(load<u8>(p, 2))
  return (high | low) & 16 ? NO_ESCAPE : high << 4 | low
}

/** Writes the escape of a byte, in capitals. Returns its end. */
// @ts-ignore: decorator
@inline
export function writeEscape(out: usize, value: u32): usize {
  const high = value >> 4
  const low = value & 15
  store<u8>(out, 0x25)
  store<u8>(out, <u8>(high + (high < 10 ? 0x30 : 0x37)), 1)
  store<u8>(out, <u8>(low + (low < 10 ? 0x30 : 0x37)), 2)
  return out + 3
}

// The value of a hexadecimal digit; 16 for anything else.
// @ts-ignore: decorator
@inline
export function hexDigit(c: u8): u32 {
  const digit = <u32>c - 0x30
  if (digit < 10) return digit
  const letter = <u32>(c | 0x20) - 0x61
  return letter < 6 ? letter + 10 : 16
}

export function isUnreserved(c: u32): bool {
  if (c - 0x30 < 10 || (c | 0x20) - 0x61 < 26) return true
  return c == 0x2d || c == 0x2e || c == 0x5f || c == 0x7e
}

// Whether the '%' at `p` begins an escape that is decoded or has a small letter.
export function isOtherEscape(p: usize, end: usize): bool {
  const value = escapedByte(p, end)
  if (value == NO_ESCAPE) return false
  return load<u8>(p, 1) > 0x60 || load<u8>(p, 2) > 0x60 || isUnreserved(value)
}

// Rewrites the escapes of [p, end) in place; returns the new end. A digit is not decoded behind a bare '%', with which
// it would make an escape of its own.
export function normaliseEscapes(p: usize, end: usize): usize {
  const start = p
  let out = p
  while (p < end) {
    const c = load<u8>(p)
    const value = c == 0x25 ? escapedByte(p, end) : NO_ESCAPE
    if (value == NO_ESCAPE) {
      store<u8>(out++, c)
      p++
      continue
    }
    const isBehindPercent = hexDigit(<u8>value) < 16 && (
      (out > start && load<u8>(out - 1) == 0x25) ||
      (out > start + 1 && load<u8>(out - 2) == 0x25 && hexDigit(load<u8>(out - 1)) < 16)
    )
    if (isUnreserved(value) && !isBehindPercent) {
      store<u8>(out++, <u8>value)
    } else {
      out = writeEscape(out, value)
    }
    p += 3
  }
  return out
}
