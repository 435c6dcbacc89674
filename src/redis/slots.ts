// The hash slots of a Redis cluster and the tags that reach them. A sieve's tags lie evenly over the 16,384 slots, so
// that nodes that own equal shares of the slots get equal shares of the URLs.

const SLOTS = 16384

const CRC16 = Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 8
  for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1
  return crc
})

/** The slot of an ASCII key, as the cluster specification has it: CRC16 (XMODEM) of what stands in its first braces. */
export function slotOf(key: string): number {
  const open = key.indexOf('{')
  const close = open < 0 ? -1 : key.indexOf('}', open)
  const isTagged = close > open + 1
  let crc = 0
  for (let i = isTagged ? open + 1 : 0; i < (isTagged ? close : key.length); i++) {
    crc = ((crc << 8) & 0xffff) ^ CRC16[(crc >> 8) ^ key.charCodeAt(i)]!
  }
  return crc % SLOTS
}

const known = new Map<number, readonly string[]>()

/** `count` tags, of which the i-th lies in the middle of the i-th part of the slots: the least number that does. */
export function evenTags(count: number): readonly string[] {
  const there = known.get(count)
  if (there) return there
  const wanted = new Map<number, number>()
  for (let i = 0; i < count; i++) wanted.set(Math.floor(((i + 0.5) * SLOTS) / count), i)
  const tags: string[] = new Array(count)
  for (let n = 0; wanted.size > 0; n++) {
    const slot = slotOf(String(n))
    const i = wanted.get(slot)
    if (i === undefined) continue
    tags[i] = String(n)
    wanted.delete(slot)
  }
  known.set(count, tags)
  return tags
}

/** The beginnings of the keys of a sieve with this number of tags. */
export const tagPrefixes = (count: number): readonly string[] =>
  evenTags(count).map((tag) => `urlsieve:{${tag}}:`)
