// A client that knows nothing but the protocol: for what real clients never send, and to see each reply as it came.
import { connect, type Socket } from 'node:net'

export type Value = string | number | boolean | null | Bytes | Failed | Value[] | Map<Value, Value>

/** A bulk string, one character a byte. */
export class Bytes {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

export class Failed {
  readonly error: string
  constructor(error: string) {
    this.error = error
  }
}

/** A command as clients encode it. */
export function encoded(...words: readonly (string | Uint8Array)[]): Buffer {
  const parts: Uint8Array[] = [Buffer.from(`*${words.length}\r\n`)]
  for (const word of words) {
    const bytes = Buffer.from(word as string)
    parts.push(Buffer.from(`$${bytes.length}\r\n`), bytes, Buffer.from('\r\n'))
  }
  return Buffer.concat(parts)
}

/** Reads replies out of bytes; null while there is no whole one. */
export class Decoder {
  #bytes = Buffer.alloc(0)
  #at = 0

  push(chunk: Uint8Array): void {
    this.#bytes = Buffer.concat([this.#bytes.subarray(this.#at), chunk])
    this.#at = 0
  }

  get left(): number {
    return this.#bytes.length - this.#at
  }

  next(): { value: Value; bytes: Buffer } | null {
    const from = this.#at
    try {
      const value = this.#value()
      return { value, bytes: this.#bytes.subarray(from, this.#at) }
    } catch (error) {
      if (!(error instanceof RangeError)) throw error
      this.#at = from
      return null
    }
  }

  #line(): string {
    const end = this.#bytes.indexOf('\r\n', this.#at)
    if (end < 0) throw new RangeError('more')
    const line = this.#bytes.toString('latin1', this.#at, end)
    this.#at = end + 2
    return line
  }

  #value(): Value {
    const line = this.#line()
    const rest = line.slice(1)
    const many = (n: number) => Array.from({ length: n }, () => this.#value())
    switch (line[0]) {
      case '+':
        return rest
      case '-':
        return new Failed(rest)
      case ':':
      case ',':
        return Number(rest)
      case '#':
        return rest === 't'
      case '_':
        return null
      case '$':
        return rest === '-1' ? null : this.#bulk(Number(rest))
      case '=':
        return new Bytes(this.#bulk(Number(rest)).text.slice('txt:'.length))
      case '*':
      case '~':
        return rest === '-1' ? null : many(Number(rest))
      case '%':
        return new Map(Array.from({ length: Number(rest) }, () => [this.#value(), this.#value()]))
      default:
        throw new Error(`no reply: ${JSON.stringify(line)}`)
    }
  }

  #bulk(length: number): Bytes {
    const end = this.#at + length
    if (end + 2 > this.#bytes.length) throw new RangeError('more')
    const text = this.#bytes.toString('latin1', this.#at, end)
    this.#at = end + 2
    return new Bytes(text)
  }
}

/** A reply without its wrappings: bulk strings as text, errors as `!text`. */
export function plain(value: Value): unknown {
  if (value instanceof Bytes) return value.text
  if (value instanceof Failed) return `!${value.error}`
  if (value instanceof Map) return new Map([...value].map(([name, one]) => [plain(name), plain(one)]))
  return Array.isArray(value) ? value.map(plain) : value
}

export class Raw {
  readonly socket: Socket
  readonly #decoder = new Decoder()
  readonly #waiting: (() => void)[] = []
  isClosed = false

  private constructor(socket: Socket) {
    this.socket = socket
    const wake = () => {
      for (const one of this.#waiting.splice(0)) one()
    }
    socket.on('data', (chunk) => {
      this.#decoder.push(chunk)
      wake()
    })
    socket.on('error', () => {})
    socket.on('close', () => {
      this.isClosed = true
      wake()
    })
  }

  static connect(port: number): Promise<Raw> {
    return new Promise((resolve, reject) => {
      const socket = connect({ port, host: '127.0.0.1', noDelay: true }, () => resolve(new Raw(socket)))
      socket.once('error', reject)
    })
  }

  write(bytes: string | Uint8Array): void {
    this.socket.write(bytes)
  }

  /** The next reply; throws when the connection ends without one. */
  async read(): Promise<Value> {
    return (await this.#next()).value
  }

  async #next(): Promise<{ value: Value; bytes: Buffer }> {
    for (;;) {
      const found = this.#decoder.next()
      if (found) return found
      if (this.isClosed) throw new Error('the connection ended')
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    }
  }

  /** The bytes of the next reply. */
  async readBytes(): Promise<Buffer> {
    return (await this.#next()).bytes
  }

  async ask(...words: readonly (string | Uint8Array)[]): Promise<unknown> {
    this.write(encoded(...words))
    return plain(await this.read())
  }

  /** Kept when the server has ended the connection. */
  async closed(): Promise<void> {
    while (!this.isClosed) await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }

  close(): void {
    this.socket.destroy()
  }
}
