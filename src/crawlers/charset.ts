// The bytes of a page as text: by its byte order mark, the charset of its Content-Type, or the one it names in its first
// kilobyte; otherwise UTF-8. Linear, one chunk at a time.

/** Where a page names its charset, as the HTML standard looks for it. */
const PRESCAN_BYTES = 1024

export class CharsetDecoder {
  readonly #contentType: string
  #decoder: TextDecoder | undefined
  #head = Buffer.alloc(0)

  constructor(contentType: string) {
    this.#contentType = contentType
  }

  /** The text of a chunk; '' until enough of the page is there to know its charset. */
  write(piece: Buffer): string {
    if (this.#decoder) return this.#decoder.decode(piece, { stream: true })
    this.#head = Buffer.concat([this.#head, piece])
    return this.#head.length < PRESCAN_BYTES ? '' : this.#begin()
  }

  /** The rest of the text. */
  end(): string {
    const text = this.#decoder ? '' : this.#begin()
    return text + this.#decoder!.decode()
  }

  #begin(): string {
    const head = this.#head
    this.#head = Buffer.alloc(0)
    this.#decoder = decoderOf(this.#contentType, head)
    return this.#decoder.decode(head, { stream: true })
  }
}

function decoderOf(contentType: string, head: Buffer): TextDecoder {
  const mark = head.subarray(0, 2).toString('hex')
  if (mark === 'feff') return new TextDecoder('utf-16be')
  if (mark === 'fffe') return new TextDecoder('utf-16le')
  const isUtf8 = head.subarray(0, 3).toString('hex') === 'efbbbf'
  const start = head.toString('latin1', 0, PRESCAN_BYTES)
  const named = isUtf8 ? undefined : (charsetIn(contentType) ?? charsetIn(start))
  try {
    // A page that names UTF-16 in ASCII is not in UTF-16.
    return new TextDecoder(/^utf-?16/i.test(named ?? '') && !charsetIn(contentType) ? undefined : named)
  } catch {
    return new TextDecoder()
  }
}

const charsetIn = (text: string) => /(?:charset|encoding)\s{0,9}=\s{0,9}["']?([\w.:-]{2,40})/i.exec(text)?.[1]
