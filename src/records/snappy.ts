// Snappy, as Parquet packs pages (format_description.txt of google/snappy): literals and copies of earlier output. Every length
// and place is checked against both buffers, so that a forged page ends with an error after linear time.

const damaged = () => new Error('a damaged snappy page')

/** Unpacks into exactly `length` bytes. */
export function unpackSnappy(input: Uint8Array, length: number): Uint8Array {
  const output = new Uint8Array(length)
  let at = 0
  let size = 0
  const number = (bytes: number) => {
    if (at + bytes > input.length) throw damaged()
    let value = 0
    for (let i = 0; i < bytes; i++) value |= input[at + i]! << (8 * i)
    at += bytes
    return value >>> 0
  }
  // The length, which the page's header has too.
  while (number(1) >= 128);
  while (at < input.length) {
    const tag = input[at++]!
    const kind = tag & 3
    if (kind === 0) {
      const short = tag >>> 2
      const count = (short < 60 ? short : number(short - 59)) + 1
      if (at + count > input.length || size + count > length) throw damaged()
      output.set(input.subarray(at, at + count), size)
      at += count
      size += count
      continue
    }
    const count = kind === 1 ? ((tag >>> 2) & 7) + 4 : (tag >>> 2) + 1
    const offset = kind === 1 ? (tag >>> 5) * 256 + number(1) : number(kind === 2 ? 2 : 4)
    if (offset === 0 || offset > size || size + count > length) throw damaged()
    // A copy may overlap what it writes.
    if (offset >= count) output.copyWithin(size, size - offset, size - offset + count)
    else for (let i = 0; i < count; i++) output[size + i] = output[size + i - offset]!
    size += count
  }
  if (size !== length) throw damaged()
  return output
}
