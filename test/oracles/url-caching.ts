// The program of url-caching written plainly: three hash functions over the bytes of a URL, an array of booleans, and
// one line of answer for each line of the input. Slow on purpose; the command must agree with it byte for byte.

const SPACES = [9, 11, 12, 13, 32]

/** Section 2.4, `_hash1`: a polynomial rolling hash with 31. */
export function hash1(url: Uint8Array): number {
  let hash = 0
  for (const byte of url) hash = (Math.imul(hash, 31) + byte) >>> 0
  return hash
}

/** Section 2.5, `_hash2`: DJB2. */
export function hash2(url: Uint8Array): number {
  let hash = 5381
  for (const byte of url) hash = (Math.imul(hash, 33) + byte) >>> 0
  return hash
}

/** Section 2.6, `_hash3`: XOR with shifts, from 17. The paper names no shifts: left 5 and right 2. */
export function hash3(url: Uint8Array): number {
  let hash = 17
  for (const byte of url) hash = (hash ^ ((hash << 5) + (hash >>> 2) + byte)) >>> 0
  return hash
}

/** Sections 1.1 and 1.2. */
export class BloomFilterCaching {
  readonly size: number
  readonly bits: boolean[]

  constructor(size: number) {
    this.size = size
    this.bits = new Array<boolean>(size).fill(false)
  }

  #addresses(url: Uint8Array): number[] {
    return [hash1(url), hash2(url), hash3(url)].map((hash) => hash % this.size)
  }

  addUrl(url: Uint8Array): void {
    for (const at of this.#addresses(url)) this.bits[at] = true
  }

  checkUrl(url: Uint8Array): boolean {
    return this.#addresses(url).every((at) => this.bits[at])
  }
}

/** Section 2.2: m = k · n / ln 2, for k = 3 and n lines with ADD. */
export function calculateSize(adds: number): number {
  return Math.max(8, Math.ceil((3 * adds) / Math.log(2)))
}

interface Line {
  readonly word: Buffer
  readonly url: Buffer
}

function split(text: Buffer): Line {
  let from = 0
  let to = text.length
  while (from < to && SPACES.includes(text[from]!)) from++
  while (to > from && SPACES.includes(text[to - 1]!)) to--
  const line = text.subarray(from, to)
  const end = line.findIndex((byte) => SPACES.includes(byte))
  if (end < 0) return { word: line, url: Buffer.alloc(0) }
  let start = end
  while (SPACES.includes(line[start]!)) start++
  return { word: line.subarray(0, end), url: line.subarray(start) }
}

function linesOf(input: Buffer): Line[] {
  const lines: Line[] = []
  let from = input.subarray(0, 3).equals(Buffer.from([0xef, 0xbb, 0xbf])) ? 3 : 0
  while (from < input.length) {
    let to = input.indexOf(10, from)
    if (to < 0) to = input.length
    lines.push(split(input.subarray(from, to)))
    from = to + 1
  }
  return lines
}

const isCommand = ({ word }: Line, name: string): boolean => word.toString('latin1').toUpperCase() === name

/** Section 2.1, `initiateURLCaching`: what the whole program writes, and how many lines it could not read. */
export function initiateUrlCaching(input: Buffer, size = 0): { output: Buffer; errors: number } {
  const lines = linesOf(input)
  const adds = lines.filter((line) => isCommand(line, 'ADD') && line.url.length > 0).length
  const cache = new BloomFilterCaching(size || calculateSize(adds))
  const output: Buffer[] = []
  let errors = 0
  const answer = (text: string, url: Buffer = Buffer.alloc(0)) =>
    output.push(Buffer.from(text), url, Buffer.from('\n'))
  for (const [i, line] of lines.entries()) {
    const { word, url } = line
    if (word.length === 0) continue
    const isAdd = isCommand(line, 'ADD')
    const isCheck = isCommand(line, 'CHECK')
    if ((isAdd || isCheck) && url.length > 0) {
      if (isAdd) {
        cache.addUrl(url)
        answer('added ', url)
      } else {
        answer(cache.checkUrl(url) ? 'possibly-present ' : 'not-present ', url)
      }
      continue
    }
    errors++
    const shown =
      word
        .subarray(0, 40)
        .toString()
        .replace(/[\0-\x1f\x7f]/g, '\ufffd') + (word.length > 40 ? '…' : '')
    const why =
      isAdd || isCheck
        ? `${isAdd ? 'ADD' : 'CHECK'} without a URL`
        : `unknown command '${shown}': expected ADD or CHECK`
    answer(`error line ${i + 1}: ${why}`)
  }
  return { output: Buffer.concat(output), errors }
}
