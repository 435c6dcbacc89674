// A stream of links as real ones look, from a seed: the same bytes on any machine (integers and tables only).
// The shares come from 3.5 M distinct links of a forum (2013) and of a package registry: half of them are
// repositories on one host, a quarter images, a sixth threads of one forum, and the rest a long tail of hosts
// whose popularity falls as 1/rank. Repeats occur, as they do in links.
import { type Draw, draws, scramble } from './random.ts'

/** Room that one link may need at most. */
const LINK_BYTES = 512
const CHUNK_BYTES = 256 * 1024

const HOST_OCTAVES = 18
const WORD_OCTAVES = 13

/** Depths 0 … 8 as measured on such hosts, in thousandths, summed up. */
const DEPTHS = Uint16Array.of(42, 238, 481, 668, 823, 919, 966, 992)

const encoder = new TextEncoder()
const bytesOf = (words: string): Uint8Array[] => words.split(' ').map((word) => encoder.encode(word))

const LETTERS = encoder.encode('0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_')
const COMMON = bytesOf(
  'the a to of in and for is on my with i you this from what how new that it at are be an your do me not have as',
)
const SYLLABLES = (
  'ba ber bo ca can ce co da del di do el en er fa fi for ga gen go ha hi in ka ker la le li lo ma men mi mo na ne ' +
  'ni no on or pa per pi po ra re ri ro sa sen si so ta ter ti to tra u va ven vi wa we wor y za'
).split(' ')
const TOP_LEVELS = bytesOf(
  'com com com com com com com com com com com com com com com com com com com com org org net net co.uk me ca edu de io com.au gov',
)
const EXTENSIONS = bytesOf(
  '.html .html .html .html .html .html .jpg .jpg .jpg .jpg .gif .php .php .png .aspx .htm .pdf .shtml',
)
const FOLDERS = bytesOf(
  'news articles blog watch story photos wiki art media category politics tech en video images',
)
const PARAMETERS = bytesOf('id v p page ref utm_source utm_medium story_id source feature t q _r fbid')
const VALUES = bytesOf('rss share related feedly twitter facebook youtu.be player_embedded email')
const REPOSITORY_STARTS = bytesOf('node- react- generator- vue- gulp- ng- grunt- express- cordova-plugin-')
const REPOSITORY_ENDS = bytesOf('-js .js -cli -plugin -sdk -api -ui -client -server -loader -utils .git')

/** An endless stream of links, each with a newline; a chunk is valid until the next one is requested. */
export function* generateLinks(seed: number): Generator<Uint8Array, never> {
  const chunk = new Uint8Array(CHUNK_BYTES)
  const writer = new LinkWriter(chunk, draws(seed, 'links'))
  for (;;) {
    let used = 0
    while (used < CHUNK_BYTES - LINK_BYTES) used = writer.link(used)
    yield chunk.subarray(0, used)
  }
}

/** Words 0, 1, 2 … of an invented language, the commonest first. */
function makeWords(): Uint8Array[] {
  const words = [...COMMON]
  for (let i = words.length; i < 2 ** WORD_OCTAVES; i++) {
    let bits = scramble(i)
    const length = 2 + (bits & 3 ? bits & 1 : 2)
    let word = ''
    for (let s = 0; s < length; s++) {
      bits = scramble(bits)
      word += SYLLABLES[bits % SYLLABLES.length]
    }
    words.push(encoder.encode(word))
  }
  return words
}

class LinkWriter {
  readonly #out: Uint8Array
  readonly #next: Draw
  readonly #words = makeWords()
  readonly #hosts = new Array<Uint8Array | undefined>(2 ** HOST_OCTAVES).fill(undefined)
  #at = 0
  /** Threads and pages are numbered as they are made. */
  #thread = 0x1000000

  constructor(out: Uint8Array, next: Draw) {
    this.#out = out
    this.#next = next
  }

  /** Writes one link and its newline at `at`; returns its end. */
  link(at: number): number {
    this.#at = at
    const kind = this.#below(1000)
    if (kind < 480) this.#repository()
    else if (kind < 634) this.#forumThread()
    else if (kind < 742) this.#image()
    else if (kind < 810) this.#imagePage()
    else if (kind < 849) this.#video()
    else this.#page()
    this.#byte(10)
    return this.#at
  }

  #repository(): void {
    this.#text('https://code.example/')
    // Owners: the first octaves are left out, or one owner would have a tenth of all.
    const owner = this.#rank(20, 6)
    const bits = scramble(owner ^ 0x5bd1e995)
    this.#word(bits & 1 ? bits >>> 19 : (bits >>> 8) & 511)
    if (bits & 2) this.#byte(45)
    if (owner > 4096 || bits & 2) this.#number(owner, bits & 12 ? 36 : 10)
    this.#byte(47)
    const shape = this.#below(100)
    if (shape < 12) this.#from(REPOSITORY_STARTS)
    this.#word(this.#anyWord())
    if (shape < 75) this.#dashWord(45)
    if (shape < 30) this.#dashWord(45)
    if (shape > 86) this.#from(REPOSITORY_ENDS)
    if (this.#below(70) === 0) {
      this.#text('/tree/master/packages/')
      this.#word(this.#anyWord())
    }
  }

  #forumThread(): void {
    this.#text('http://talk.example/r/')
    const section = this.#rank(12, 5)
    this.#capitalised(64 + (scramble(section) & 8127))
    if (section & 1) this.#word(section & 511)
    this.#text('/comments/')
    this.#thread += 1 + this.#below(60)
    this.#number(this.#thread, 36)
    this.#byte(47)
    // Titles are cut at fifty bytes, as the forum does.
    const words = 1 + Math.max(this.#below(11), this.#below(11))
    const from = this.#at
    for (let i = 0; i < words && this.#at - from < 44; i++) {
      if (i > 0) this.#byte(95)
      this.#word(this.#anyWord())
    }
    this.#byte(47)
    if (this.#below(33) === 0) {
      this.#letters(7, 36)
      if (this.#below(2)) this.#text('?context=3')
    }
  }

  #image(): void {
    this.#text('http://i.pic.example/')
    this.#letters(this.#below(3) ? 5 : 7, 62)
    const kind = this.#below(16)
    this.#text(kind < 13 ? '.jpg' : kind < 15 ? '.png' : '.gif')
  }

  #imagePage(): void {
    this.#text('http://pic.example/')
    const kind = this.#below(10)
    if (kind < 2) this.#text(kind ? 'gallery/' : 'a/')
    this.#letters(this.#below(3) ? 5 : 7, 62)
  }

  #video(): void {
    this.#text('http://clips.example/watch?v=')
    this.#letters(11, 64)
    const kind = this.#below(12)
    if (kind < 4) {
      this.#text('&feature=')
      this.#from(VALUES)
    } else if (kind === 4) {
      this.#text('#t=')
      this.#number(1 + this.#below(300), 10)
      this.#byte(115)
    }
  }

  /** A page somewhere in the long tail of hosts. */
  #page(): void {
    this.#text(this.#below(18) ? 'http://' : 'https://')
    this.#bytes(this.#host(this.#rank(HOST_OCTAVES, 0)))
    const share = this.#below(1000)
    let depth = 0
    while (depth < DEPTHS.length && share >= DEPTHS[depth]!) depth++
    this.#byte(47)
    if (depth === 0) return
    for (let i = 1; i < depth; i++) {
      const kind = this.#below(8)
      if (kind < 2) this.#from(FOLDERS)
      else if (kind === 2 && i + 1 < depth) {
        this.#number(2004 + this.#below(10), 10)
        this.#byte(47)
        this.#two(1 + this.#below(12))
        i++
      } else if (kind < 5) this.#word(this.#rank(WORD_OCTAVES, 3))
      else if (kind === 5) this.#two(1 + this.#below(31))
      else if (kind === 6) this.#number(this.#below(100_000), 10)
      else {
        this.#word(this.#anyWord())
        this.#dashWord(45)
      }
      this.#byte(47)
    }
    this.#leaf()
    if (this.#below(100) < 16) this.#query()
    if (this.#below(100) < 3) {
      this.#byte(35)
      this.#word(this.#anyWord())
    }
  }

  /** The last segment: a title, a number, a name, with an ending or a slash. */
  #leaf(): void {
    const kind = this.#below(16)
    if (kind < 9) {
      const words = 2 + this.#below(9)
      const between = kind & 1 ? 95 : 45
      this.#word(this.#anyWord())
      for (let i = 1; i < words; i++) this.#dashWord(kind < 8 ? between : 43)
      if (kind < 2) {
        this.#byte(between)
        this.#number(this.#next() >>> 8, 10)
      }
    } else if (kind < 12) this.#number(this.#next() >>> (2 + this.#below(12)), 10)
    else if (kind < 14) this.#letters(6 + this.#below(20), 62)
    else this.#capitalised(this.#anyWord())
    const end = this.#below(100)
    if (end < 33) this.#byte(47)
    else if (end < 68) this.#from(EXTENSIONS)
  }

  #query(): void {
    const more = this.#below(100)
    const parameters = more < 60 ? 1 : more < 75 ? 2 : more < 85 ? 3 : 4 + (more & 3)
    for (let i = 0; i < parameters; i++) {
      this.#byte(i === 0 ? 63 : 38)
      this.#from(PARAMETERS)
      this.#byte(61)
      const kind = this.#below(8)
      if (kind < 4) this.#number(this.#next() >>> (8 + this.#below(20)), 10)
      else if (kind < 6) this.#from(VALUES)
      else this.#letters(4 + this.#below(18), 36)
    }
  }

  #host(rank: number): Uint8Array {
    let host = this.#hosts[rank]
    if (host) return host
    const from = this.#at
    const bits = scramble(rank ^ 0x2545f491)
    if (bits & 1) this.#text('www.')
    else if ((bits & 14) === 0) {
      this.#word(bits >>> 19)
      this.#byte(46)
    }
    this.#word(COMMON.length + ((bits >>> 4) % (this.#words.length - COMMON.length)))
    if (rank > 64) this.#word(scramble(bits) >>> 19)
    this.#byte(46)
    this.#bytes(TOP_LEVELS[scramble(bits + 1) % TOP_LEVELS.length]!)
    host = this.#out.slice(from, this.#at)
    this.#hosts[rank] = host
    this.#at = from
    return host
  }

  /** A rank whose chance falls as 1/rank: every octave from 2^first to 2^octaves as likely as the next. */
  #rank(octaves: number, first: number): number {
    const octave = 1 << (first + this.#below(octaves - first))
    return octave + (this.#next() & (octave - 1))
  }

  #anyWord(): number {
    return this.#rank(WORD_OCTAVES, 0) - 1
  }

  /** A whole number below `limit`, by multiplication: `limit` under 2^20 keeps it exact. */
  #below(limit: number): number {
    return Math.floor((this.#next() * limit) / 2 ** 32)
  }

  #byte(byte: number): void {
    this.#out[this.#at++] = byte
  }

  #bytes(bytes: Uint8Array): void {
    for (let i = 0; i < bytes.length; i++) this.#out[this.#at++] = bytes[i]!
  }

  #text(text: string): void {
    for (let i = 0; i < text.length; i++) this.#out[this.#at++] = text.charCodeAt(i)
  }

  #from(words: readonly Uint8Array[]): void {
    this.#bytes(words[this.#below(words.length)]!)
  }

  #word(i: number): void {
    this.#bytes(this.#words[i]!)
  }

  #dashWord(between: number): void {
    this.#byte(between)
    this.#word(this.#anyWord())
  }

  #capitalised(i: number): void {
    const from = this.#at
    this.#word(i)
    this.#out[from]! &= 0xdf
  }

  #letters(count: number, alphabet: number): void {
    for (let i = 0; i < count; i++) this.#byte(LETTERS[this.#below(alphabet)]!)
  }

  #two(number: number): void {
    this.#byte(48 + Math.floor(number / 10))
    this.#byte(48 + (number % 10))
  }

  #number(number: number, base: number): void {
    let digits = 1
    for (let rest = number; rest >= base; rest = Math.floor(rest / base)) digits++
    this.#at += digits
    for (let i = 1; i <= digits; i++) {
      this.#out[this.#at - i] = LETTERS[number % base]!
      number = Math.floor(number / base)
    }
  }
}
