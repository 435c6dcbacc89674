// The input of the delivery tests, and what it holds: records that end with a number of their own, some of them repeated,
// as lines and as CSV rows, of which some have a newline in them and some are not URLs.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { randomFrom } from '../support/random.mjs'

const DIGITS = 7
const HOSTS = 53
const NEW_SHARE = 0.75
const TWO_LINES = 16
const NOT_URL = 50
export const CSV_HEADER = 'title,url'

const isUrl = (id) => id % NOT_URL !== 7

function urlOf(id) {
  const number = String(id).padStart(DIGITS, '0')
  return isUrl(id) ? `https://h${(id * 7919) % HOSTS}.example/p/${number}` : `no url /${number}`
}

const rowOf = (id) => (id % TWO_LINES === 3 ? `"two\nlines",${urlOf(id)}` : `row,${urlOf(id)}`)

/** Every distinct record, by its number. */
class Records {
  constructor(count, textOf) {
    const parts = []
    this.ends = new Uint32Array(count)
    let end = 0
    for (let id = 0; id < count; id++) {
      const text = `${textOf(id)}\n`
      parts.push(text)
      end += text.length
      this.ends[id] = end
    }
    this.bytes = Buffer.from(parts.join(''), 'latin1')
    this.count = count
  }

  start(id) {
    return id === 0 ? 0 : this.ends[id - 1]
  }

  size(id) {
    return this.ends[id] - this.start(id)
  }

  text(id) {
    return this.bytes.toString('latin1', this.start(id), this.ends[id] - 1)
  }
}

/** The input as files below `folder`: `lines` records, of which about three in four are new. */
export function makeInput(folder, { lines, seed }) {
  const random = randomFrom(seed)
  const order = new Uint32Array(lines)
  let count = 0
  for (let i = 0; i < lines; i++) {
    order[i] = count === 0 || random() < NEW_SHARE ? count++ : Math.floor(random() * count)
  }
  const records = { lines: new Records(count, urlOf), csv: new Records(count, rowOf) }
  const written = (of, from, to) => {
    const parts = []
    for (const id of order.subarray(from, to)) parts.push(of.bytes.subarray(of.start(id), of.ends[id]))
    return Buffer.concat(parts)
  }
  const half = lines >> 1
  const plain = written(records.lines, 0, lines)
  const contents = {
    'plain.txt': plain,
    'plain.txt.gz': gzipSync(plain, { level: 1 }),
    'first.txt': written(records.lines, 0, half),
    'second.txt': written(records.lines, half, lines),
    'rows.csv': Buffer.concat([Buffer.from(`${CSV_HEADER}\n`), written(records.csv, 0, lines)]),
  }
  for (const [name, bytes] of Object.entries(contents)) writeFileSync(join(folder, name), bytes)
  return { folder, records, count, isUrl, bytes: records.lines.bytes.length }
}

/** How an input is given to the command. */
export const INPUTS = {
  plain: { files: ['plain.txt'] },
  gzip: { files: ['plain.txt.gz'] },
  csv: { files: ['rows.csv'], args: ['--format', 'csv', '--field', 'url'], isRows: true },
  two: { files: ['first.txt', 'second.txt'] },
  stdin: { files: [], stdin: 'plain.txt' },
}
