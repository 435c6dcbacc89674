// SipHash-c-d as the paper writes it (Aumasson and Bernstein 2012), on BigInt: slow and plain. The kernel's is 1-3.

const u64 = (x: bigint) => BigInt.asUintN(64, x)
const rotl = (x: bigint, by: bigint) => u64((x << by) | (x >> (64n - by)))

/** Eight bytes, or the fewer that are left, as a little-endian number. */
function word(bytes: Uint8Array, from: number): bigint {
  let x = 0n
  for (let i = Math.min(from + 8, bytes.length) - 1; i >= from; i--) x = (x << 8n) | BigInt(bytes[i]!)
  return x
}

export function siphash(key: Uint8Array, message: Uint8Array, rounds: { c: number; d: number }): bigint {
  const k0 = word(key, 0)
  const k1 = word(key, 8)
  let v0 = k0 ^ 0x736f6d6570736575n
  let v1 = k1 ^ 0x646f72616e646f6dn
  let v2 = k0 ^ 0x6c7967656e657261n
  let v3 = k1 ^ 0x7465646279746573n
  const round = () => {
    v0 = u64(v0 + v1)
    v1 = rotl(v1, 13n) ^ v0
    v0 = rotl(v0, 32n)
    v2 = u64(v2 + v3)
    v3 = rotl(v3, 16n) ^ v2
    v0 = u64(v0 + v3)
    v3 = rotl(v3, 21n) ^ v0
    v2 = u64(v2 + v1)
    v1 = rotl(v1, 17n) ^ v2
    v2 = rotl(v2, 32n)
  }
  // The last word is what is left of the message, with its length modulo 256 on top.
  const whole = message.length - (message.length % 8)
  const last = u64(BigInt(message.length) << 56n) | word(message, whole)
  for (let at = 0; at <= whole; at += 8) {
    const m = at < whole ? word(message, at) : last
    v3 ^= m
    for (let i = 0; i < rounds.c; i++) round()
    v0 ^= m
  }
  v2 ^= 0xffn
  for (let i = 0; i < rounds.d; i++) round()
  return v0 ^ v1 ^ v2 ^ v3
}

export const siphash13 = (key: Uint8Array, message: Uint8Array) => siphash(key, message, { c: 1, d: 3 })
