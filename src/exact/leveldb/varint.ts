// LevelDB's variable-length numbers: seven bits per byte, least significant first, the top bit set on all but the last.

/** The number at `at`, and the offset behind it. Throws a RangeError when it does not end. */
export function readVarint(bytes: Uint8Array, at: number): [value: number, end: number] {
  let value = 0
  for (let scale = 1; ; scale *= 128) {
    const byte = bytes[at++]
    if (byte === undefined || scale > 2 ** 49) throw new RangeError('a number without an end')
    value += (byte & 127) * scale
    if (byte < 128) return [value, at]
  }
}
