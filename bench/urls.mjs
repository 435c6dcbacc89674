// The benchmark's URLs: URL number i of a seed is a pure function, written as bytes.
// Every URL carries its own number (scrambled, base 36), so different numbers can never give the same URL,
// before or after canonicalisation, and the true count of distinct lines is known without a set.
// Integer arithmetic only: the same seed gives the same bytes on every machine and every Node.

/** Raise it whenever the bytes of a stream change: stored streams of another version are made again. */
export const generatorVersion = 1

/** The longest URL the writer can make, with room to spare; leave this much free in the buffer. */
export const maxUrlBytes = 512

const hostBits = 17
const wordBits = 10
const capitalHostEvery = 128

const syllables = [
  ...['ba', 'be', 'bi', 'bo', 'ca', 'ce', 'co', 'da', 'de', 'di', 'do', 'fa', 'fi', 'fo', 'ga', 'go', 'ha'],
  ...['he', 'in', 'ja', 'ka', 'ki', 'la', 'le', 'li', 'lo', 'ma', 'me', 'mi', 'mo', 'na', 'ne', 'ni', 'no'],
  ...['on', 'pa', 'pe', 'po', 'ra', 're', 'ri', 'ro', 'sa', 'se', 'si', 'so', 'ta', 'te', 'ti', 'to', 'un'],
  ...['va', 've', 'vi', 'wa', 'we', 'ster', 'ton', 'ling', 'ment', 'port', 'tion', 'land', 'ware', 'able'],
]
const topLevels = ['com', 'com', 'com', 'org', 'net', 'de', 'co.uk', 'fr', 'io', 'jp']
const endings = ['', '', '', '/', '/', '.html', '.html', '.php']

/** A small xorshift generator of unsigned 32-bit numbers. */
export class Random {
  constructor(seed) {
    this.state = scramble(seed) || 1
  }

  next() {
    let x = this.state
    x ^= x << 13
    x ^= x >>> 17
    x ^= x << 5
    this.state = x
    return x >>> 0
  }

  below(limit) {
    return this.next() % limit
  }

  /** A rank in 1 … 2^bits − 1, Zipf with exponent 1 to within a factor of two: each octave is as likely. */
  rank(bits) {
    const octave = this.next() % bits
    return (1 << octave) | (this.next() & ((1 << octave) - 1))
  }
}

export class UrlWriter {
  constructor(seed) {
    this.seed = seed
    const random = new Random(seed)
    const words = Array.from({ length: 1 << wordBits }, (_, i) => {
      const word = wordOf(random, random.below(4) === 0 ? 4 : 2 + random.below(2))
      return i % 16 === 15 ? word[0].toUpperCase() + word.slice(1) : word
    })
    const hosts = Array.from({ length: 1 << hostBits }, (_, i) => hostOf(random, i))
    this.words = new Tokens(words)
    this.hosts = new Tokens(hosts)
    this.endings = new Tokens(endings)
    this.random = new Random(seed)
  }

  /** Writes URL number `index` (no newline) at `at` and returns where it ends. */
  write(index, out, at) {
    const { random, words } = this
    random.state = scramble(index ^ Math.imul(this.seed, 0x85ebca6b)) || 1
    const host = random.rank(hostBits)
    at = this.hosts.write(host, out, at)
    const depth = depthOf(random.next())
    const shape = random.next()
    for (let i = 1; i < depth; i++) {
      out[at++] = 0x2f
      // A site has few sections and more folders below them: the vocabulary shifts with the host.
      at = words.write((host * 31 + i * 7 + random.rank(i === 1 ? 4 : 8)) & ((1 << wordBits) - 1), out, at)
      if (i === 2 && (shape & 0x3f) === 0) at = writeAscii('%20', out, at)
      else if (i === 2 && (shape & 1) === 0) out[at++] = 0x2d
      else continue
      at = words.write(random.next() & ((1 << wordBits) - 1), out, at)
    }
    out[at++] = 0x2f
    at = words.write(random.next() & ((1 << wordBits) - 1), out, at)
    out[at++] = 0x2d
    at = words.write(random.next() & ((1 << wordBits) - 1), out, at)
    if ((shape >>> 8) % 4 === 0) {
      at = writeAscii('?id=', out, at)
      at = writeNumber(index, out, at)
      if ((shape & 0x40) === 0) {
        at = writeAscii('&page=', out, at)
        out[at++] = 0x31 + random.below(9)
      }
      if ((shape & 0x80) === 0) {
        at = writeAscii('&sort=', out, at)
        at = words.write(random.below(16), out, at)
      }
      return at
    }
    if (((shape >>> 16) & 3) !== 0) {
      out[at++] = 0x2d
      at = words.write(random.next() & ((1 << wordBits) - 1), out, at)
    }
    out[at++] = 0x2d
    at = writeNumber(index, out, at)
    return this.endings.write((shape >>> 20) % endings.length, out, at)
  }
}

/** Many short byte strings in one buffer. */
class Tokens {
  constructor(texts) {
    this.bytes = Buffer.from(texts.join(''), 'latin1')
    this.starts = new Uint32Array(texts.length + 1)
    for (let i = 0; i < texts.length; i++) this.starts[i + 1] = this.starts[i] + texts[i].length
  }

  write(i, out, at) {
    const { bytes, starts } = this
    const end = starts[i + 1]
    for (let from = starts[i]; from < end; from++) out[at++] = bytes[from]
    return at
  }
}

function wordOf(random, count) {
  let word = ''
  for (let i = 0; i < count; i++) word += syllables[random.below(syllables.length)]
  return word
}

function hostOf(random, i) {
  const scheme = random.below(8) === 0 ? 'http://' : 'https://'
  const www = random.below(2) === 0 ? 'www.' : ''
  const word = wordOf(random, 2 + random.below(2))
  const name = `${word}${i.toString(36)}.${topLevels[random.below(topLevels.length)]}`
  // A few sites are always linked with a capital in the host, as real pages do: not every URL is a tidy one.
  return scheme + www + (i % capitalHostEvery === 0 ? name[0].toUpperCase() + name.slice(1) : name)
}

/** Path depth 1 … 6; most links are two to four deep. */
function depthOf(value) {
  const percent = value % 100
  return percent < 14 ? 1 : percent < 40 ? 2 : percent < 68 ? 3 : percent < 86 ? 4 : percent < 95 ? 5 : 6
}

function writeAscii(text, out, at) {
  for (let i = 0; i < text.length; i++) out[at++] = text.charCodeAt(i)
  return at
}

/** The URL's number, scrambled by a bijection of 32 bits, in base 36. */
function writeNumber(index, out, at) {
  let rest = Math.imul(index + 1, 0x9e3779b1) >>> 0
  do {
    const digit = rest % 36
    out[at++] = digit < 10 ? 0x30 + digit : 0x57 + digit
    rest = (rest - digit) / 36
  } while (rest > 0)
  return at
}

/** The finaliser of MurmurHash3: a bijection of 32 bits. */
function scramble(value) {
  let x = value | 0
  x = Math.imul(x ^ (x >>> 16), 0x85ebca6b)
  x = Math.imul(x ^ (x >>> 13), 0xc2b2ae35)
  return x ^ (x >>> 16)
}
