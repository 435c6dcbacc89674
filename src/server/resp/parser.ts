// Parses commands of the Redis protocol as their bytes arrive: RESP arrays of bulk strings, and inline commands. Arguments
// are not turned into strings, and the first part of a command is not parsed again when the rest arrives.

const CR = 13
const LF = 10
const STAR = 42
const DOLLAR = 36
const ZERO = 48
/** The first byte that TLS sends, and no command begins with. */
export const TLS_HANDSHAKE = 0x16
/** Longest inline command. */
const MOST_LINE_BYTES = 64 * 1024
/** Digits of a length. */
const MOST_DIGITS = 10
const FIRST_ARGUMENTS = 64
/** The error when a client speaks TLS. */
export const TLS =
  'this looks like TLS: expected RESP without it (redis:// for rediss://), or a proxy that ends TLS'

/** What `next` found: a command, too few bytes for one, or a protocol error. */
export type Found = 'command' | 'more' | 'error'

export interface ParserLimits {
  readonly itemBytes: number
  readonly commandItems: number
}

/**
 * Parses commands in `bytes` from `at` on. Offsets within a command are relative to `at`, so that the caller may move the
 * bytes, and `at` with them. `pass` skips the command found.
 */
export class Parser {
  bytes: Buffer = Buffer.alloc(0)
  /** Start of the current command. */
  at = 0
  /** End of the bytes. */
  size = 0
  /** Arguments parsed so far; all of them once a command is found. */
  count = 0
  starts = new Uint32Array(FIRST_ARGUMENTS)
  ends = new Uint32Array(FIRST_ARGUMENTS)
  /** The protocol error, in one line. */
  error = ''
  limits: ParserLimits
  /** Arguments of this command; -1 while unknown. */
  #expected = -1
  /** Bytes of this command parsed so far. */
  #read = 0
  /** Length of the argument whose bytes come next; -1 while unknown. */
  #length = -1
  /** The unescaped words of an inline command. */
  #words: Buffer | null = null

  constructor(limits: ParserLimits) {
    this.limits = limits
  }

  /** Whether there is an incomplete command. */
  get isHalf(): boolean {
    return this.at < this.size
  }

  /** Whether nothing of the command at `at` has been parsed yet. */
  get isFresh(): boolean {
    return this.#expected < 0 && this.#read === 0
  }

  /** Bytes of argument `i` of the command found: a view, valid until the bytes change. */
  argument(i: number): Buffer {
    const bytes = this.#words ?? this.bytes
    const base = this.#words ? 0 : this.at
    return bytes.subarray(base + this.starts[i]!, base + this.ends[i]!)
  }

  /** The buffer that the arguments' offsets refer to, and their base. */
  get source(): { bytes: Buffer; base: number } {
    return this.#words ? { bytes: this.#words, base: 0 } : { bytes: this.bytes, base: this.at }
  }

  /** The command found, as it was sent: a view, valid until the bytes change. */
  get sent(): Buffer {
    return this.bytes.subarray(this.at, this.at + this.#read)
  }

  /** Skips the command found. */
  pass(): void {
    this.at += this.#read
    this.#expected = -1
    this.#read = 0
    this.#length = -1
    this.#words = null
    this.count = 0
  }

  /** Discards all bytes. */
  drop(): void {
    this.bytes = Buffer.alloc(0)
    this.at = 0
    this.size = 0
  }

  next(): Found {
    const { bytes, size } = this
    if (this.#words) return 'command' // an inline command that was not skipped yet
    for (;;) {
      if (this.#expected < 0) {
        if (this.at >= size) return 'more'
        if (bytes[this.at] !== STAR) {
          const found = bytes[this.at] === TLS_HANDSHAKE ? this.#fail(TLS) : this.#line()
          if (found !== 'command' || this.count > 0) return found
          this.pass() // an empty line
          continue
        }
        const found = this.#number(this.at + 1, 'multibulk')
        if (found !== 'command') return found
        if (this.#value > this.limits.commandItems) return this.#tooMany(this.#value)
        this.#read = this.#after - this.at
        if (this.#value <= 0) {
          // An empty array is not a command: it is skipped.
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
          return this.#fail(`Protocol error: expected '$', got '${printable(bytes[from]!)}'`)
        }
        const found = this.#number(from + 1, 'bulk')
        if (found !== 'command') return found
        if (this.#value < 0) return this.#fail('Protocol error: invalid bulk length')
        if (this.#value > limits.itemBytes) {
          return this.#fail(
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
        return this.#fail('Protocol error: expected CRLF after an argument')
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

  /** What `#number` parsed, and the offset of the next byte. */
  #value = 0
  #after = 0

  // A number and CRLF at `from`.
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
      if (i - digits >= MOST_DIGITS) return this.#fail(`Protocol error: invalid ${what} length`)
      value = value * 10 + digit
    }
    if (i + 2 > size && (i >= size || bytes[i] === CR)) return 'more'
    if (i === digits || bytes[i] !== CR || bytes[i + 1] !== LF) {
      return this.#fail(`Protocol error: invalid ${what} length`)
    }
    this.#value = isNegative ? -value : value
    this.#after = i + 2
    return 'command'
  }

  // An inline command: a line of words.
  #line(): Found {
    const { bytes, at } = this
    const lineEnd = bytes.subarray(0, this.size).indexOf(LF, at + this.#read)
    if (lineEnd < 0) {
      this.#read = this.size - at
      if (this.#read > MOST_LINE_BYTES) return this.#fail('Protocol error: too big inline request')
      return 'more'
    }
    if (lineEnd - at > MOST_LINE_BYTES) return this.#fail('Protocol error: too big inline request')
    const words = wordsOf(bytes.toString('latin1', at, lineEnd))
    if (!words) return this.#fail('Protocol error: unbalanced quotes in request')
    if (words.length > this.limits.commandItems) return this.#tooMany(words.length)
    this.#read = lineEnd + 1 - at
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
    return this.#fail(`a command of ${count} arguments: expected at most ${commandItems} (--max-items)`)
  }

  #fail(line: string): Found {
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

const printable = (byte: number) =>
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
