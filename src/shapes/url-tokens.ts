// A URL's bytes cut into tokens by the kernel (kernel/shapes/url-tokens.ts): its host, the segments of its path and its
// parameters, each with hash and form, in arrays that the next URL overwrites. No string is made.
import { SieveError } from '../errors.ts'
import { compileKernelNow, Kernel } from '../kernel.ts'

/** A path is cut where one of its segments comes up for this time: a number of kernel/shapes/url-tokens.ts, as those below. */
export const REPEATED_SEGMENTS = 3
/** Longer lines are not URLs. */
export const MOST_URL = 64 * 1024
/** The most memory for lines: many times what is read at a time. */
const MOST_BYTES = 512 * 1024 ** 2
const MOST_TOKENS = 32
const MOST_PARAMETERS = 16
const MOST_NAME = 64
const MOST_HOST = 256

/** Numbers of the fields. */
const SEGMENTS = 0
const PARAMETERS = 1
const HOST_LENGTH = 2
const HOST_LO = 4
const HOST_HI = 5
const NAMES_LO = 6
const NAMES_HI = 7
const ORDER_LO = 8
const URL_LO = 9
const FIELDS = 10

let shared: UrlTokens | undefined

export class UrlTokens {
  /** The memory that URLs are read from, and in which all addresses are. */
  bytes!: Uint8Array
  /** Host, in lower case and without user name and default port. */
  host!: Uint8Array
  /** Addresses of the tokens' texts. Tokens [0, segments) are segments; the next `parameters` are values of parameters. */
  starts!: Uint32Array
  ends!: Uint32Array
  /** Where the extension begins; the end where there is none. */
  stems!: Uint32Array
  forms!: Uint8Array
  los!: Int32Array
  his!: Int32Array
  /** Hash of the extension; 0 where there is none. */
  extensions!: Int32Array
  /** Numbers, years and dates (YYYYMMDD). */
  values!: Float64Array
  /** Of parameters: hash and text of the name, at the parameter's number times `nameWidth`; digits in brackets are one 0. */
  nameLos!: Int32Array
  nameHis!: Int32Array
  names!: Uint8Array
  nameLengths!: Int32Array
  readonly nameWidth = MOST_NAME
  #fields!: Int32Array
  readonly #kernel: Kernel

  /** Hashes are keyed, so that a page cannot choose URLs whose hashes collide; default: a random key. */
  constructor(key: readonly [number, number] = randomKey()) {
    this.#kernel = Kernel.create(compileKernelNow(), MOST_BYTES)
    this.#kernel.call.setKey(BigInt(key[0] >>> 0), BigInt(key[1] >>> 0))
    this.#view()
  }

  /** One for all who read URL by URL. */
  static shared(): UrlTokens {
    shared ??= new UrlTokens()
    return shared
  }

  /** The address of memory for lines, of this number of bytes; what it held before is kept. */
  reserve(bytes: number): number {
    return this.#reserved(this.#kernel.call.reserveInput(bytes), bytes)
  }

  /** The address of memory for one URL, apart from the lines. */
  reserveUrl(bytes = MOST_URL): number {
    return this.#reserved(this.#kernel.call.reserveUrls(bytes), bytes)
  }

  /** Copies one URL there. Returns its address. */
  put(url: Uint8Array): number {
    const at = this.reserveUrl(url.length)
    this.bytes.set(url, at)
    return at
  }

  #reserved(address: number, bytes: number): number {
    this.#kernel.refresh()
    if (this.bytes.length === 0) this.#view()
    if (address === 0) throw new SieveError('memory', `no memory left for ${bytes} bytes of URLs`)
    return address >>> 0
  }

  /** Finds lines at addresses [from, end), at most one batch of them; `isLast`: what follows the last newline is one too. */
  findLines(from: number, end: number, isLast: boolean): number {
    return this.#kernel.call.findLines(from, from, end, isLast ? 1 : 0)
  }

  /** Where the lines that it found begin and end, and where the next line begins. */
  get lineStarts(): Uint32Array {
    return this.#kernel.lineStarts
  }

  get lineEnds(): Uint32Array {
    return this.#kernel.lineEnds
  }

  get linesEnd(): number {
    return (this.#kernel.call.lineCursor.value as number) >>> 0
  }

  /** Reads the URL at addresses [start, end). False: it is not an absolute URL with a host. */
  read(start: number, end: number): boolean {
    return this.#kernel.call.readTokens(start, end) === 1
  }

  /** The form of a single value; `isFile`: without an extension such as `.html`. */
  formOf(value: Uint8Array, isFile: boolean): number {
    const start = this.put(value)
    return this.#kernel.call.readForm(start, start + value.length, 0, isFile ? 1 : 0)
  }

  get segments(): number {
    return this.#fields[SEGMENTS]!
  }

  get parameters(): number {
    return this.#fields[PARAMETERS]!
  }

  get hostLength(): number {
    return this.#fields[HOST_LENGTH]!
  }

  get hostLo(): number {
    return this.#fields[HOST_LO]!
  }

  get hostHi(): number {
    return this.#fields[HOST_HI]!
  }

  /** The set of names, whatever their order. */
  get namesLo(): number {
    return this.#fields[NAMES_LO]!
  }

  get namesHi(): number {
    return this.#fields[NAMES_HI]!
  }

  /** The names in their order. */
  get orderLo(): number {
    return this.#fields[ORDER_LO]!
  }

  /** The whole URL, without scheme and fragment. */
  get urlLo(): number {
    return this.#fields[URL_LO]!
  }

  #view(): void {
    const { bytes, call } = this.#kernel
    const { buffer } = bytes
    let at = (call.tokenArrays.value as number) >>> 0
    const take = (size: number) => {
      at += size
      return at - size
    }
    const integers = () => new Int32Array(buffer, take(MOST_TOKENS * 4), MOST_TOKENS)
    const addresses = () => new Uint32Array(buffer, take(MOST_TOKENS * 4), MOST_TOKENS)
    this.bytes = bytes
    this.values = new Float64Array(buffer, take(MOST_TOKENS * 8), MOST_TOKENS)
    this.starts = addresses()
    this.ends = addresses()
    this.stems = addresses()
    this.los = integers()
    this.his = integers()
    this.extensions = integers()
    this.nameLos = integers()
    this.nameHis = integers()
    this.nameLengths = integers()
    this.forms = new Uint8Array(buffer, take(MOST_TOKENS), MOST_TOKENS)
    this.host = new Uint8Array(buffer, take(MOST_HOST), MOST_HOST)
    this.names = new Uint8Array(buffer, take(MOST_PARAMETERS * MOST_NAME), MOST_PARAMETERS * MOST_NAME)
    this.#fields = new Int32Array(buffer, take(FIELDS * 4), FIELDS)
  }
}

function randomKey(): [number, number] {
  const [k0, k1] = crypto.getRandomValues(new Int32Array(2))
  return [k0!, k1!]
}
