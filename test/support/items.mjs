/** Texts as the items of `addItems` and `hasItems`: their bytes, with the start and end of each. */
export function itemsOf(texts) {
  const parts = texts.map((text) => Buffer.from(text))
  const ends = new Uint32Array(parts.length)
  let at = 0
  for (const [i, part] of parts.entries()) ends[i] = at += part.length
  const starts = Uint32Array.from(ends, (end, i) => end - parts[i].length)
  return { bytes: Buffer.concat(parts), starts, ends }
}
