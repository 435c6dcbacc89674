// Spellings of a host that AGGRESSIVE joins.

/**
 * Drops `www.`, `www2.`, … at the start of the host [host, end), as long as two labels are left. The host is in lower case
 * and has at most 63 bytes. Returns its new end.
 */
export function dropNumberedWww(host: usize, end: usize): usize {
  let start = host
  while (start + 3 < end && (load<u32>(start) & 0xffffff) == 0x777777) {
    let dot = start + 3
    while (dot < end && <u32>load<u8>(dot) - 0x30 < 10) dot++
    if (dot == end || load<u8>(dot) != 0x2e) break
    let next = dot + 1
    while (next < end && load<u8>(next) != 0x2e) next++
    if (next == dot + 1 || next + 1 >= end || load<u8>(next, 1) == 0x2e) break
    start = dot + 1
  }
  if (start == host) return end
  const a = v128.load(start)
  const b = v128.load(start, 16)
  const c = v128.load(start, 32)
  const d = v128.load(start, 48)
  v128.store(host, a)
  v128.store(host, b, 16)
  v128.store(host, c, 32)
  v128.store(host, d, 48)
  return end - (start - host)
}
