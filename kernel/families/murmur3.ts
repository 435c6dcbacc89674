// MurmurHash3_x86_32 (Austin Appleby, public domain): the hash of term-project and sharma, with seeds 0 … k−1.

export function murmur3(p: usize, end: usize, seed: u32): u32 {
  const size = <u32>(end - p)
  const whole = p + (<usize>size & ~3)
  let h = seed
  while (p < whole) {
    h ^= rotl(load<u32>(p) * 0xcc9e2d51, 15) * 0x1b873593
    h = rotl(h, 13) * 5 + 0xe6546b64
    p += 4
  }
  const left = size & 3
  if (left) h ^= rotl((load<u32>(p) & ((1 << (left << 3)) - 1)) * 0xcc9e2d51, 15) * 0x1b873593
  h ^= size
  h = (h ^ (h >> 16)) * 0x85ebca6b
  h = (h ^ (h >> 13)) * 0xc2b2ae35
  return h ^ (h >> 16)
}
