// The texts of one page of a Parquet column (parquet-format, Encodings.md): plain, by a dictionary, or by differences. Every length and
// count is checked against the page before it is used, so that a forged page ends with an error after linear time.

/** What the page's header and the column's schema say about a page, and its bytes, unpacked. */
export interface TextPage {
  readonly encoding: string
  /** Rows, those without a value included. */
  readonly count: number
  /** The definition level of a row that has a value: 0 when every row has one. */
  readonly level: number
  /** The levels, or null when they are at the beginning of `bytes` behind their length. */
  readonly levels: Uint8Array | null
  readonly bytes: Uint8Array
}

/** Bytes of all texts of one page, where one says how it differs from the one before. */
const MOST_TEXT_BYTES = 256 * 1024 ** 2

/** The texts of a page's rows that have one. */
export function textsOf(page: TextPage, dictionary: readonly string[] | null): string[] {
  const input = new Input(page.bytes)
  const count = page.level === 0 ? page.count : countValues(page, input)
  switch (page.encoding) {
    case 'PLAIN':
      return plainTexts(input, count)
    case 'PLAIN_DICTIONARY':
    case 'RLE_DICTIONARY':
      return input.runs(count === 0 ? 0 : input.byte(), count, (index) => textAt(dictionary, index))
    case 'DELTA_LENGTH_BYTE_ARRAY':
      return input.texts(input.differences(count))
    case 'DELTA_BYTE_ARRAY':
      return continuedTexts(input, count)
    default:
      throw new Error(`a page of encoding ${page.encoding}`)
  }
}

/** The texts of a dictionary's page. */
export function plainTexts(input: Input, count: number): string[] {
  const texts: string[] = []
  while (texts.length < count) texts.push(input.text(input.number(4)))
  return texts
}

function countValues({ count, level, levels }: TextPage, input: Input): number {
  const source = levels ? new Input(levels) : new Input(input.take(input.number(4)))
  const found = source.runs(32 - Math.clz32(level), count, (one) => one)
  const wrong = found.find((one) => one > level)
  if (wrong !== undefined) throw new Error(`a definition level of ${wrong}`)
  return found.filter((one) => one === level).length
}

function textAt(dictionary: readonly string[] | null, index: number): string {
  const text = dictionary?.[index]
  if (text === undefined) throw new Error(`entry ${index} of a dictionary of ${dictionary?.length ?? 0}`)
  return text
}

// Each text is the beginning of the one before, so many bytes of it, and a rest.
function continuedTexts(input: Input, count: number): string[] {
  const kept = input.differences(count)
  const added = input.differences(count)
  let before = Buffer.alloc(0)
  let bytes = 0
  return kept.map((length, i) => {
    if (length < 0 || length > before.length) throw new Error(`${length} bytes of the text before`)
    before = Buffer.concat([before.subarray(0, length), input.take(added[i]!)])
    bytes += before.length
    if (bytes > MOST_TEXT_BYTES) throw new Error(`a page of more than ${MOST_TEXT_BYTES} bytes of text`)
    return before.toString()
  })
}

const ended = () => new Error('a page that ends too early')

/** Reads a page from its beginning to its end. */
export class Input {
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  }

  byte(): number {
    if (this.#at >= this.#bytes.length) throw ended()
    return this.#bytes[this.#at++]!
  }

  take(length: number): Buffer {
    if (!(length >= 0 && this.#at + length <= this.#bytes.length)) throw ended()
    this.#at += length
    return this.#bytes.subarray(this.#at - length, this.#at)
  }

  text(length: number): string {
    if (!(length >= 0 && this.#at + length <= this.#bytes.length)) throw ended()
    this.#at += length
    return this.#bytes.toString('utf8', this.#at - length, this.#at)
  }

  texts(lengths: readonly number[]): string[] {
    return lengths.map((length) => this.text(length))
  }

  /** An unsigned number of up to 4 bytes. */
  number(bytes: number): number {
    if (this.#at + bytes > this.#bytes.length) throw ended()
    let value = 0
    for (let i = 0; i < bytes; i++) value |= this.#bytes[this.#at + i]! << (8 * i)
    this.#at += bytes
    return value >>> 0
  }

  /** An unsigned number of 7 bits per byte, at most 2^35. */
  #varint(): number {
    let value = 0
    for (let i = 0; i < 5; i++) {
      const byte = this.byte()
      value += (byte & 127) * 2 ** (7 * i)
      if (byte < 128) return value
    }
    throw new Error('a number of more than 35 bits')
  }

  #signed(): number {
    const value = this.#varint()
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2
  }

  /** Calls `use` for so many numbers of `width` bits that lie side by side. */
  #packed(width: number, count: number, use: (value: number) => void): void {
    const bytes = this.take(Math.ceil((width * count) / 8))
    let at = 0
    let used = 0
    for (let i = 0; i < count; i++) {
      let value = 0
      for (let bits = 0; bits < width; ) {
        const some = Math.min(8 - used, width - bits)
        value += ((bytes[at]! >> used) & ((1 << some) - 1)) * 2 ** bits
        bits += some
        used += some
        if (used === 8) {
          used = 0
          at++
        }
      }
      use(value)
    }
  }

  /** So many numbers of `width` bits, in runs of equal ones or side by side: what `of` makes of each. */
  runs<T>(width: number, count: number, of: (value: number) => T): T[] {
    if (width > 32) throw new Error(`numbers of ${width} bits`)
    const all: T[] = []
    while (all.length < count) {
      const header = this.#varint()
      const left = count - all.length
      if (header % 2 === 1) {
        const values = ((header - 1) / 2) * 8
        const some = Math.min(values, left)
        // The last group may be cut off behind the last value.
        this.#packed(width, some, (value) => all.push(of(value)))
        const rest = Math.ceil((values * width) / 8) - Math.ceil((some * width) / 8)
        if (values < left || rest <= this.#bytes.length - this.#at) this.take(rest)
      } else {
        const value = of(this.number(Math.ceil(width / 8)))
        for (let i = Math.min(header / 2, left); i > 0; i--) all.push(value)
      }
    }
    return all
  }

  /** So many numbers of 32 bits, each as its difference from the one before (DELTA_BINARY_PACKED). */
  differences(count: number): number[] {
    const block = this.#varint()
    const parts = this.#varint()
    const total = this.#varint()
    const size = block / parts
    if (!(parts > 0 && parts <= 1024 && size >= 8 && size % 8 === 0 && size <= 65_536))
      throw new Error(`blocks of ${block} numbers in ${parts} parts`)
    if (total !== count) throw new Error(`${total} numbers for ${count} texts`)
    const all: number[] = []
    let value = this.#signed() | 0
    if (count > 0) all.push(value)
    while (all.length < count) {
      const least = this.#signed()
      const widths = this.take(parts)
      for (const width of widths) {
        if (all.length >= count) break
        if (width > 32) throw new Error(`numbers of ${width} bits`)
        this.#packed(width, size, (difference) => {
          value = (value + least + difference) | 0
          if (all.length < count) all.push(value)
        })
      }
    }
    return all
  }
}
