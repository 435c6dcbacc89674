// What was delivered, against what the input holds: every record whole, at least once, and nothing else.
import { CSV_HEADER } from './delivery-data.mjs'

const NEWLINE = 10
const DIGITS = 7
const FIRST_HALF = Buffer.from('"two')
const SHOWN = 3

export class Delivered {
  /** How often each record came. */
  counts
  /** Lines that are no record: torn ones, and two in one. */
  foreign = []
  foreignCount = 0
  /** Pieces that end within a record. */
  torn = 0
  #records
  #hasHeader

  constructor(records, hasHeader) {
    this.#records = records
    this.#hasHeader = hasHeader
    this.counts = new Uint8Array(records.count)
  }

  /** One piece: what one run wrote to a pipe, or a whole file. A header may begin it. */
  add(bytes) {
    let from = 0
    if (this.#hasHeader && bytes.toString('latin1', 0, CSV_HEADER.length + 1) === `${CSV_HEADER}\n`) {
      from = CSV_HEADER.length + 1
    }
    while (from < bytes.length) {
      let newline = bytes.indexOf(NEWLINE, from)
      if (newline > 0 && bytes.compare(FIRST_HALF, 0, FIRST_HALF.length, from, newline) === 0) {
        newline = bytes.indexOf(NEWLINE, newline + 1)
      }
      if (newline < 0) {
        this.torn++
        return
      }
      this.#line(bytes, from, newline + 1)
      from = newline + 1
    }
  }

  #line(bytes, from, end) {
    const records = this.#records
    let id = 0
    for (let at = end - 1 - DIGITS; at < end - 1; at++) id = id * 10 + bytes[at] - 48
    const isRecord =
      id >= 0 &&
      id < records.count &&
      bytes.compare(records.bytes, records.start(id), records.ends[id], from, end) === 0
    if (isRecord) this.counts[id] = Math.min(255, this.counts[id] + 1)
    else {
      this.foreignCount++
      if (this.foreign.length < SHOWN)
        this.foreign.push(bytes.toString('latin1', from, end - 1).slice(0, 120))
    }
  }
}

/** What the trial's outputs come to. `main` has what is new, `invalid` what is no URL where that has a file of its own. */
export function verdictOf(input, records, { main, repeated, invalid }) {
  const lost = []
  let lostCount = 0
  let twice = 0
  let twiceBytes = 0
  for (let id = 0; id < input.count; id++) {
    const times = main.counts[id]
    if (times === 0 && !(invalid && !input.isUrl(id) && invalid.counts[id] > 0)) {
      lostCount++
      if (lost.length < SHOWN) lost.push(records.text(id).replace('\n', '\\n'))
    }
    if (times > 1) {
      twice += times - 1
      twiceBytes += (times - 1) * records.size(id)
    }
  }
  const all = [main, repeated, invalid].filter(Boolean)
  return {
    lost: lostCount,
    lostLines: lost,
    twice,
    twiceBytes,
    foreign: all.reduce((sum, { foreignCount }) => sum + foreignCount, 0),
    foreignLines: all.flatMap(({ foreign }) => foreign),
    torn: all.reduce((sum, { torn }) => sum + torn, 0),
  }
}
