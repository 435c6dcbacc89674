// What `awk '!s[$0]++'` prints, for any bytes: the oracle of `dedupe --profile raw`. A line is what is before a
// newline, and what follows the last one unless that is nothing; every printed line gets a newline.

/** The lines of some bytes; each byte is a character (latin1), so that no two lines become the same. */
export function linesOfBytes(bytes: Buffer): string[] {
  const lines = bytes.toString('latin1').split('\n')
  if (lines.at(-1) === '') lines.pop()
  return lines
}

/** The lines that come for the first time, or with `repeated` all others. */
export function awk(bytes: Buffer, repeated = false): Buffer {
  const before = new Set<string>()
  const kept = linesOfBytes(bytes).filter((line) => {
    const isNew = !before.has(line)
    before.add(line)
    return isNew !== repeated
  })
  return Buffer.from(kept.map((line) => `${line}\n`).join(''), 'latin1')
}

/** So many bytes, each one of `alphabet`. */
export function randomBytes(random: () => number, size: number, alphabet: readonly number[]): Buffer {
  const bytes = Buffer.alloc(size)
  for (let i = 0; i < size; i++) bytes[i] = alphabet[Math.floor(random() * alphabet.length)]!
  return bytes
}

/** So many URLs, one a line, `distinct` of them different. */
export function urlLines(random: () => number, lines: number, distinct: number): Buffer {
  const url = () => {
    const n = Math.floor(random() * distinct)
    return `https://host-${n % 97}.example/section/${n}/page.html?n=${n}\n`
  }
  return Buffer.from(Array.from({ length: lines }, url).join(''))
}
