// Commands of the Redis protocol, read from bytes as they come: RESP arrays of bulk strings, and lines of words. No
// string is made of an argument, and what has been read of a command is not read again when the rest comes.

const CR = 13
const LF = 10
const STAR = 42
const DOLLAR = 36
const ZERO = 48
/** A line of words may be so long. */
const MOST_LINE_BYTES = 64 * 1024
/** Digits of a length, and a sign. */
const MOST_DIGITS = 10
const FIRST_ARGUMENTS = 64

/** What `next` found: a command, too few bytes for one, or what no client sends. */
export type Found = 'command' | 'more' | 'error'

export interface ParserLimits {
  readonly itemBytes: number
  readonly commandItems: number
}

/**
 * Reads commands out of `bytes`, from `at` on. All places within a command are counted from there, so that they stay
 * right when the caller moves the bytes, and `at` with them. `pass` goes on behind a command that was found.
 */
export class Parser {
  bytes: Buffer = Buffer.alloc(0)
  /** Where the command being read begins. */
  at = 0
  /** Where the bytes end. */
  size = 0
  /** Arguments read so far; of a command found, all. */
  count = 0
  starts = new Uint32Array(FIRST_ARGUMENTS)
  ends = new Uint32Array(FIRST_ARGUMENTS)
  /** Of what was found wrong: one line. */
  error = ''
  limits: ParserLimits
  /** Arguments this command will have; -1 before that is known. */
  #expected = -1
  /** How far this command is read, from `at`. */
  #read = 0
  /** Length of the argument whose bytes come next; -1 before that is known. */
  #length = -1
  /** The words of a line are written out here, unescaped. */
  #words: Buffer | null = null

  constructor(limits: ParserLimits) {
    this.limits = limits
  }

  /** Whether a command has begun and is not whole. */
  get isHalf(): boolean {
    return this.at < this.size
  }

  /** Whether nothing of the command at `at` has been read yet. */
  get isFresh(): boolean {
    return this.#expected < 0 && this.#read === 0
  }

  /** Bytes of argument `i` of the command found: a view, good until the bytes change. */
  argument(i: number): Buffer {
    const bytes = this.#words ?? this.bytes
    const base = this.#words ? 0 : this.at
    return bytes.subarray(base + this.starts[i]!, base + this.ends[i]!)
  }

  /** The buffer that the arguments' places refer to, and from where. */
  get source(): { bytes: Buffer; base: number } {
    return this.#words ? { bytes: this.#words, base: 0 } : { bytes: this.bytes, base: this.at }
  }

  /** Goes on behind the command found. */
  pass(): void {
    this.at += this.#read
    this.#expected = -1
    this.#read = 0
    this.#length = -1
    this.#words = null
    this.count = 0
  }

  /** Gives up all bytes. */
  drop(): void {
    this.bytes = Buffer.alloc(0)
    this.at = 0
    this.size = 0
  }

  next(): Found {
    const { bytes, size } = this
    if (this.#words) return 'command' // a line that was not passed yet
    for (;;) {
      if (this.#expected < 0) {
        if (this.at >= size) return 'more'
        if (bytes[this.at] !== STAR) {
          const found = this.#line()
          if (found !== 'command' || this.count > 0) return found
          this.pass() // an empty line
          continue
        }
        const found = this.#number(this.at + 1, 'multibulk')
        if (found !== 'command') return found
        if (this.#value > this.limits.commandItems) return this.#tooMany(this.#value)
        this.#read = this.#after - this.at
        if (this.#value <= 0) {
          // An empty array is no command: it is passed over.
          this.at += this.#read
          this.#read = 0
          continue
        }
        this.#expected = this.#value
      }
      return this.#arguments()
    }
  }

  #arguments(): Found {
    const { bytes, size, at, limits } = this
    while (this.count < this.#expected) {
      if (this.#length < 0) {
        const from = at + this.#read
        if (from >= size) return 'more'
        if (bytes[from] !== DOLLAR) {
          return this.#wrong(`Protocol error: expected '$', got '${shown(bytes[from]!)}'`)
        }
        const found = this.#number(from + 1, 'bulk')
        if (found !== 'command') return found
        if (this.#value < 0) return this.#wrong('Protocol error: invalid bulk length')
        if (this.#value > limits.itemBytes) {
          return this.#wrong(
            `an item of ${this.#value} bytes: expected at most ${limits.itemBytes} (--max-item-bytes)`,
          )
        }
        this.#length = this.#value
        this.#read = this.#after - at
      }
      const start = at + this.#read
      const end = start + this.#length
      if (end + 2 > size) return 'more'
      if (bytes[end] !== CR || bytes[end + 1] !== LF) {
        return this.#wrong('Protocol error: expected CRLF after an argument')
      }
      if (this.count === this.starts.length) this.#widen(this.count + 1)
      this.starts[this.count] = start - at
      this.ends[this.count] = end - at
      this.count++
      this.#read = end + 2 - at
      this.#length = -1
    }
    return 'command'
  }

  /** What `#number` read, and where the next byte is. */
  #value = 0
  #after = 0

  // A number and CRLF from `from` on.
  #number(from: number, what: string): Found {
    const { bytes, size } = this
    let i = from
    const isNegative = bytes[i] === 45 && i < size
    if (isNegative) i++
    let value = 0
    const digits = i
    for (; i < size; i++) {
      const digit = bytes[i]! - ZERO
      if (digit < 0 || digit > 9) break
      if (i - digits >= MOST_DIGITS) return this.#wrong(`Protocol error: invalid ${what} length`)
      value = value * 10 + digit
    }
    if (i + 2 > size && (i >= size || bytes[i] === CR)) return 'more'
    if (i === digits || bytes[i] !== CR || bytes[i + 1] !== LF) {
      return this.#wrong(`Protocol error: invalid ${what} length`)
    }
    this.#value = isNegative ? -value : value
    this.#after = i + 2
    return 'command'
  }

  // A line of words, as people type it.
  #line(): Found {
    const { bytes, at } = this
    const feed = bytes.subarray(0, this.size).indexOf(LF, at + this.#read)
    if (feed < 0) {
      this.#read = this.size - at
      if (this.#read > MOST_LINE_BYTES) return this.#wrong('Protocol error: too big inline request')
      return 'more'
    }
    if (feed - at > MOST_LINE_BYTES) return this.#wrong('Protocol error: too big inline request')
    const words = wordsOf(bytes.toString('latin1', at, feed))
    if (!words) return this.#wrong('Protocol error: unbalanced quotes in request')
    if (words.length > this.limits.commandItems) return this.#tooMany(words.length)
    this.#read = feed + 1 - at
    this.#words = Buffer.from(words.join(''), 'latin1')
    if (words.length > this.starts.length) this.#widen(words.length)
    let from = 0
    for (const [i, word] of words.entries()) {
      this.starts[i] = from
      from += word.length
      this.ends[i] = from
    }
    this.count = words.length
    return 'command'
  }

  #tooMany(count: number): Found {
    const { commandItems } = this.limits
    return this.#wrong(`a command of ${count} arguments: expected at most ${commandItems} (--max-items)`)
  }

  #wrong(line: string): Found {
    this.error = line
    return 'error'
  }

  #widen(least: number): void {
    const size = Math.max(least, this.starts.length * 2)
    const [starts, ends] = [new Uint32Array(size), new Uint32Array(size)]
    starts.set(this.starts)
    ends.set(this.ends)
    this.starts = starts
    this.ends = ends
  }
}

const shown = (byte: number) =>
  byte > 31 && byte < 127 ? String.fromCharCode(byte) : `\\x${byte.toString(16).padStart(2, '0')}`

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', a: '\x07' }
const isSpace = (letter: string | undefined) => letter !== undefined && /[ \t\r\n\0\v\f]/.test(letter)

/** The words of a line: bare, 'quoted' or "quoted with \n and \x41"; null when a quote is not closed. */
function wordsOf(line: string): string[] | null {
  const words: string[] = []
  let i = 0
  for (;;) {
    while (isSpace(line[i])) i++
    if (i >= line.length) return words
    let word = ''
    let quote = ''
    for (; i < line.length; i++) {
      const letter = line[i]!
      if (quote === '') {
        if (isSpace(letter)) break
        if (letter === '"' || letter === "'") quote = letter
        else word += letter
      } else if (letter === '\\' && quote === '"') {
        const hex = /^x([0-9a-f]{2})/i.exec(line.slice(i + 1, i + 4))?.[1]
        if (hex) word += String.fromCharCode(Number.parseInt(hex, 16))
        else if (i + 1 < line.length) word += ESCAPES[line[i + 1]!] ?? line[i + 1]
        i += hex ? 3 : 1
      } else if (letter === '\\' && line[i + 1] === "'") {
        word += "'"
        i++
      } else if (letter === quote) {
        if (i + 1 < line.length && !isSpace(line[i + 1])) return null
        quote = ''
      } else {
        word += letter
      }
    }
    if (quote !== '') return null
    words.push(word)
  }
}
