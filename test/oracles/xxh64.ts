// XXH64 step by step as the xxHash specification numbers the steps, on BigInt: slow and plain.

const P1 = 0x9e3779b185ebca87n
const P2 = 0xc2b2ae3d27d4eb4fn
const P3 = 0x165667b19e3779f9n
const P4 = 0x85ebca77c2b2ae63n
const P5 = 0x27d4eb2f165667c5n

const u64 = (x: bigint) => BigInt.asUintN(64, x)
const rotl = (x: bigint, by: bigint) => u64((x << by) | (x >> (64n - by)))
const round = (acc: bigint, lane: bigint) => u64(rotl(u64(acc + lane * P2), 31n) * P1)
const merge = (acc: bigint, lane: bigint) => u64((acc ^ round(0n, lane)) * P1 + P4)

export function xxh64(message: Uint8Array, seed: bigint): bigint {
  const view = new DataView(message.buffer, message.byteOffset, message.length)
  let at = 0
  let acc: bigint
  // Steps 1 to 3: four lanes over whole stripes of 32 bytes, or nothing of that for a short message.
  if (message.length < 32) {
    acc = u64(seed + P5)
  } else {
    const lanes = [seed + P1 + P2, seed + P2, seed, seed - P1].map(u64)
    for (; at + 32 <= message.length; at += 32) {
      for (const [i, lane] of lanes.entries()) lanes[i] = round(lane, view.getBigUint64(at + 8 * i, true))
    }
    acc = u64([1n, 7n, 12n, 18n].reduce((sum, by, i) => sum + rotl(lanes[i]!, by), 0n))
    for (const lane of lanes) acc = merge(acc, lane)
  }
  // Step 4: the length.
  acc = u64(acc + BigInt(message.length))
  // Step 5: what is left, by eight, four and one.
  for (; at + 8 <= message.length; at += 8) {
    acc = u64(rotl(acc ^ round(0n, view.getBigUint64(at, true)), 27n) * P1 + P4)
  }
  if (at + 4 <= message.length) {
    acc = u64(rotl(acc ^ u64(BigInt(view.getUint32(at, true)) * P1), 23n) * P2 + P3)
    at += 4
  }
  for (; at < message.length; at++) acc = u64(rotl(acc ^ u64(BigInt(message[at]!) * P5), 11n) * P1)
  // Step 6: the avalanche.
  acc = u64((acc ^ (acc >> 33n)) * P2)
  acc = u64((acc ^ (acc >> 29n)) * P3)
  return acc ^ (acc >> 32n)
}
