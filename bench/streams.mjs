// Link streams as files of lines, in .data/: made once for a seed, size and generator version, then reused.
// `distinct`: every line is new. `repeats`: 60 % have come before; four in five of those are from the last
// 65,536 lines, each octave of distance as likely (a cache of 50,000 answers almost 80 %: Broder 2003), the
// others from everything so far with Zipf weights (navigation, home pages).

import { createHash } from 'node:crypto'
import {
  closeSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { generatorVersion, maxUrlBytes, Random, UrlWriter } from './urls.mjs'

export const streamNames = ['repeats', 'distinct']
export const repeatPercent = 60

const dataDirectory = fileURLToPath(new URL('.data/', import.meta.url))
const recentLines = 1 << 16
const chunkBytes = 1 << 20

/** The stream's file and facts; generates it when there is none that matches. */
export function prepareStream(name, { lines, seed, onGenerate = () => {} }) {
  const file = join(dataDirectory, `${name}-${lines}-seed${seed}.txt`)
  const wanted = { name, lines, seed, generatorVersion }
  const stored = storedFacts(file)
  if (stored && Object.keys(wanted).every((key) => stored[key] === wanted[key])) return { file, ...stored }
  onGenerate(file)
  mkdirSync(dataDirectory, { recursive: true })
  const facts = { ...wanted, ...generate(`${file}.part`, wanted) }
  renameSync(`${file}.part`, file)
  writeFileSync(`${file}.json`, `${JSON.stringify(facts)}\n`)
  return { file, ...facts }
}

function storedFacts(file) {
  try {
    const facts = JSON.parse(readFileSync(`${file}.json`, 'utf8'))
    return statSync(file).size === facts.bytes ? facts : undefined
  } catch {
    return undefined
  }
}

/** Writes the stream; answers its size, its distinct count, the digests of all lines and of the first ones. */
function generate(file, { name, lines, seed }) {
  const out = openSync(file, 'w')
  const all = new HashedChunks((chunk) => writeSync(out, chunk))
  const firsts = new HashedChunks(() => {})
  const writer = new UrlWriter(seed)
  const next = numbersOf(name, seed)
  let distinct = 0
  for (let line = 0; line < lines; line++) {
    const number = next(line, distinct)
    const start = all.reserve()
    all.end = writer.write(number, all.buffer, start)
    all.buffer[all.end++] = 0x0a
    if (number !== distinct) continue
    distinct++
    if (name !== 'distinct') firsts.append(all.buffer, start, all.end)
  }
  const sha256 = all.finish()
  const firstsSha256 = name === 'distinct' ? sha256 : firsts.finish()
  closeSync(out)
  return { bytes: all.total, distinct, sha256, firstsSha256 }
}

/** For each line the number of its URL; the number `distinct` stands for a URL that has not come yet. */
function numbersOf(name, seed) {
  if (name === 'distinct') return (line) => line
  const random = new Random(seed ^ 0x5bd1e995)
  const recent = new Uint32Array(recentLines)
  return (line, distinct) => {
    const number = line > 0 && random.below(100) < repeatPercent ? repeatOf(line, distinct) : distinct
    recent[line % recentLines] = number
    return number
  }
  function repeatOf(line, distinct) {
    if (random.below(10) < 8) {
      const distance = 1 + ((random.rank(16) - 1) % line)
      return recent[(line - distance) % recentLines]
    }
    return (random.rank(32 - Math.clz32(distinct)) - 1) % distinct
  }
}

/** Lines collected in one buffer, hashed and handed on in chunks. */
class HashedChunks {
  constructor(write) {
    this.write = write
    this.buffer = Buffer.allocUnsafe(chunkBytes + maxUrlBytes)
    this.hash = createHash('sha256')
    this.end = 0
    this.total = 0
  }

  /** Where the next line starts, with space for the longest one. */
  reserve() {
    if (this.end >= chunkBytes) this.flush()
    return this.end
  }

  append(bytes, start, end) {
    let at = this.reserve()
    for (let i = start; i < end; i++) this.buffer[at++] = bytes[i]
    this.end = at
  }

  flush() {
    const chunk = this.buffer.subarray(0, this.end)
    this.hash.update(chunk)
    this.write(chunk)
    this.total += this.end
    this.end = 0
  }

  finish() {
    this.flush()
    return this.hash.digest('hex')
  }
}
