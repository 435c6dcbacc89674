// Replies, written as RESP2 or RESP3 into one buffer that is sent in one write.

/** A reply as a value. Text and bytes are bulk strings; the classes below are the other types. */
export type Reply =
  | string
  | number
  | boolean
  | null
  | Uint8Array
  | Simple
  | Failure
  | Table
  | ArrayHead
  | NullArray
  | Unordered
  | Verbatim
  | Verdicts
  | Constant
  | Long
  | readonly Reply[]

/** How the verdicts of a command are written: as booleans in RESP3, as integers in both, or as the number of ones. */
export type VerdictForm = 'verdicts' | 'integers' | 'count'

/** A simple string, such as OK. */
export class Simple {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

/** An error; its first word is its code. */
export class Failure {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

/** Names and values: a map in RESP3, a flat array in RESP2. */
export class Table {
  readonly rows: readonly (readonly [Reply, Reply])[]
  constructor(rows: readonly (readonly [Reply, Reply])[]) {
    this.rows = rows
  }
}

/** The head of an array whose elements are written next, one by one. */
export class ArrayHead {
  readonly length: number
  constructor(length: number) {
    this.length = length
  }
}

/** A null array: EXEC executed nothing. */
export class NullArray {
  readonly isNull = true
}

/** Elements in no order: a set in RESP3, an array in RESP2. */
export class Unordered {
  readonly elements: readonly Reply[]
  constructor(elements: readonly Reply[]) {
    this.elements = elements
  }
}

/** Text for people: a verbatim string in RESP3, a bulk string in RESP2. */
export class Verbatim {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

/** One verdict per item, and the error that ended them. */
export class Verdicts {
  readonly answers: Uint8Array
  readonly form: VerdictForm
  readonly failure: Failure | undefined
  constructor(answers: Uint8Array, form: VerdictForm, failure?: Failure) {
    this.answers = answers
    this.form = form
    this.failure = failure
  }
}

/** A reply that never changes: built once. */
export class Constant {
  readonly #make: () => Reply
  readonly #built: { 2?: Buffer; 3?: Buffer } = {}

  constructor(make: () => Reply) {
    this.#make = make
  }

  bytes(version: 2 | 3): Buffer {
    this.#built[version] ??= Replies.encode(this.#make(), version)
    return this.#built[version]
  }
}

/**
 * An array, or in RESP3 a map, whose elements are made and written a few at a time: as other clients leave time, and as this one
 * reads them.
 */
export class Long {
  /** Elements, or pairs of a map. */
  readonly length: number
  readonly isMap: boolean
  readonly elements: Iterator<Reply>

  constructor(length: number, elements: Iterable<Reply>, isMap = false) {
    this.length = length
    this.isMap = isMap
    this.elements = elements[Symbol.iterator]()
  }
}

export const OK = new Simple('OK')

const FIRST_BYTES = 4 * 1024
/** A buffer that has grown past this is released. */
const MOST_KEPT_BYTES = 256 * 1024
const CRLF = '\r\n'

// Four bytes each, big-endian: `:1\r\n`, `:0\r\n`, `#t\r\n`, `#f\r\n`.
const VERDICTS = { 2: [0x3a300d0a, 0x3a310d0a], 3: [0x23660d0a, 0x23740d0a] } as const

export class Replies {
  /** Protocol version of the connection. */
  version: 2 | 3 = 2
  size = 0
  #bytes = Buffer.allocUnsafeSlow(FIRST_BYTES)
  #view = new DataView(this.#bytes.buffer)

  static encode(reply: Reply, version: 2 | 3): Buffer {
    const replies = new Replies()
    replies.version = version
    replies.write(reply)
    return Buffer.from(replies.written)
  }

  /** Everything written: a view, valid until the next write. */
  get written(): Buffer {
    return this.#bytes.subarray(0, this.size)
  }

  /** Memory of the buffer. */
  get capacity(): number {
    return this.#bytes.length
  }

  /** Empties the buffer. `isKept`: the socket still uses the bytes written, so a new buffer is allocated. */
  clear(isKept: boolean): void {
    this.size = 0
    const bytes = this.#bytes.length
    if (isKept || bytes > MOST_KEPT_BYTES) this.#allocate(bytes > MOST_KEPT_BYTES ? FIRST_BYTES : bytes)
  }

  #allocate(bytes: number): void {
    this.#bytes = Buffer.allocUnsafeSlow(bytes)
    this.#view = new DataView(this.#bytes.buffer)
  }

  #reserve(bytes: number): void {
    const need = this.size + bytes
    if (need <= this.#bytes.length) return
    const old = this.#bytes
    this.#allocate(Math.max(need, old.length * 2))
    this.#bytes.set(old.subarray(0, this.size))
  }

  /** Verdicts [from, to) as integers or booleans, without the head of an array. */
  verdicts(verdicts: Uint8Array, from: number, to: number, form: VerdictForm): void {
    this.#reserve((to - from) * 4)
    const [no, yes] = VERDICTS[form === 'verdicts' ? this.version : 2]
    const view = this.#view
    let at = this.size
    for (let i = from; i < to; i++) {
      view.setUint32(at, verdicts[i] === 1 ? yes : no)
      at += 4
    }
    this.size = at
  }

  /** The head of an array. */
  array(length: number): void {
    this.#line(`*${length}`)
  }

  #line(text: string): void {
    this.#reserve(text.length * 3 + 2)
    this.size += this.#bytes.write(text, this.size)
    this.size += this.#bytes.write(CRLF, this.size, 'latin1')
  }

  write(reply: Reply): void {
    if (typeof reply === 'number') this.#number(reply)
    else if (typeof reply === 'string') this.#bulk(Buffer.from(reply))
    else if (typeof reply === 'boolean')
      this.#line(this.version === 3 ? (reply ? '#t' : '#f') : `:${Number(reply)}`)
    else if (reply === null) this.#line(this.version === 3 ? '_' : '$-1')
    else if (reply instanceof Uint8Array) this.#bulk(reply)
    else if (reply instanceof Simple) this.#line(`+${reply.text}`)
    else if (reply instanceof Failure) this.#line(`-${oneLine(reply.text)}`)
    else if (reply instanceof Table) this.#table(reply)
    else if (reply instanceof ArrayHead) this.array(reply.length)
    else if (reply instanceof NullArray) this.#line(this.version === 3 ? '_' : '*-1')
    else if (reply instanceof Verdicts) this.#verdicts(reply)
    else if (reply instanceof Verbatim) this.#verbatim(reply.text)
    else if (reply instanceof Constant) this.#copy(reply.bytes(this.version))
    else if (reply instanceof Long) this.#head(reply.length, reply.isMap)
    else if (reply instanceof Unordered) this.#all(reply.elements, this.version === 3 ? '~' : '*')
    else this.#all(reply)
  }

  #all(replies: readonly Reply[], mark = '*'): void {
    this.#line(`${mark}${replies.length}`)
    for (const one of replies) this.write(one)
  }

  #verdicts({ answers, form, failure }: Verdicts): void {
    this.array(answers.length + (failure ? 1 : 0))
    this.verdicts(answers, 0, answers.length, form)
    if (failure) this.write(failure)
  }

  #table({ rows }: Table): void {
    this.#head(rows.length, true)
    for (const [name, value] of rows) {
      this.write(name)
      this.write(value)
    }
  }

  #head(length: number, isMap: boolean): void {
    if (isMap && this.version === 3) this.#line(`%${length}`)
    else this.array(isMap ? length * 2 : length)
  }

  #number(value: number): void {
    if (Number.isInteger(value)) this.#line(`:${value}`)
    else if (this.version === 3) this.#line(`,${value}`)
    else this.#bulk(Buffer.from(String(value)))
  }

  #verbatim(text: string): void {
    if (this.version === 3) this.#bulk(Buffer.from(`txt:${text}`), '=')
    else this.#bulk(Buffer.from(text))
  }

  #copy(bytes: Uint8Array): void {
    this.#reserve(bytes.length)
    this.#bytes.set(bytes, this.size)
    this.size += bytes.length
  }

  #bulk(bytes: Uint8Array, mark = '$'): void {
    this.#line(`${mark}${bytes.length}`)
    this.#copy(bytes)
    this.#reserve(2)
    this.size += this.#bytes.write(CRLF, this.size, 'latin1')
  }
}

const oneLine = (text: string) => text.replaceAll(/[\r\n]+/g, ' ')
