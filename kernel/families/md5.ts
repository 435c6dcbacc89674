// MD5 (RFC 1321) as a source of hashes (jiang-eigenvalue): the j-th is the (j mod 4)-th little-endian word of the
// digest; past the first four, of the digest of the message with the byte ⌊j / 4⌋ appended.

const shifts: usize = memory.data<u8>([7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21])
const sines: usize = memory.data(64 * 4, 16)
const block: usize = memory.data(128, 16)
/** The four words of the last digest. */
export const digest: usize = memory.data(16, 16)

for (let i = 0; i < 64; i++) store<u32>(sines + (i << 2), <u32>(<u64>Math.floor(Math.abs(Math.sin(<f64>(i + 1))) * 4294967296)))

function compress(p: usize): void {
  let a = load<u32>(digest)
  let b = load<u32>(digest, 4)
  let c = load<u32>(digest, 8)
  let d = load<u32>(digest, 12)
  for (let i: u32 = 0; i < 64; i++) {
    const quarter = i >> 4
    let f: u32
    let at: u32
    if (quarter == 0) {
      f = (b & c) | (~b & d)
      at = i
    } else if (quarter == 1) {
      f = (d & b) | (~d & c)
      at = 5 * i + 1
    } else if (quarter == 2) {
      f = b ^ c ^ d
      at = 3 * i + 5
    } else {
      f = c ^ (b | ~d)
      at = 7 * i
    }
    f += a + load<u32>(sines + (<usize>i << 2)) + load<u32>(p + (<usize>(at & 15) << 2))
    a = d
    d = c
    c = b
    b += rotl(f, <u32>load<u8>(shifts + (quarter << 2 | (i & 3))))
  }
  store<u32>(digest, load<u32>(digest) + a)
  store<u32>(digest, load<u32>(digest, 4) + b, 4)
  store<u32>(digest, load<u32>(digest, 8) + c, 8)
  store<u32>(digest, load<u32>(digest, 12) + d, 12)
}

/** Leaves in `digest` the MD5 of [p, end), followed by the byte `suffix` when that is not 0. */
export function md5(p: usize, end: usize, suffix: u32): void {
  store<u64>(digest, 0xefcdab8967452301)
  store<u64>(digest, 0x1032547698badcfe, 8)
  const bits = (<u64>(end - p) + <u64>(suffix != 0)) << 3
  while (end - p >= 64) {
    compress(p)
    p += 64
  }
  let left = end - p
  memory.copy(block, p, left)
  if (suffix) store<u8>(block + left++, <u8>suffix)
  memory.fill(block + left, 0, 128 - left)
  store<u8>(block + left, 0x80)
  const size: usize = left < 56 ? 64 : 128
  store<u64>(block + size - 8, bits)
  compress(block)
  if (size == 128) compress(block + 64)
}
