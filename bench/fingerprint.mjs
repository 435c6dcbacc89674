// The table of `fingerprint` alone: bytes and nanoseconds per hash at several sizes, for this build and, with --kernel, for
// another one (a file src/kernel-bytes.ts of another commit), which take turns every 16,384 hashes, so that the machine's moods are
// the same for both. `--curve` prints bytes per hash over a grid of sizes.
//   node bench/fingerprint.mjs [--kernel FILE] [--curve] [SIZE …]

import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { figure, table } from './table.mjs'

const { values, positionals } = parseArgs({
  options: { kernel: { type: 'string', multiple: true }, curve: { type: 'boolean' } },
  allowPositionals: true,
})
const here = new URL('../src/kernel-bytes.ts', import.meta.url)
const sizes = positionals.length > 0 ? positionals.map(Number) : [1e5, 1e6, 1e7, 1e8]
const BATCH = 2048
const TURN = 8 * BATCH
const WARM_UP = 200_000
const QUERIES = 2_000_000
/** Hashes that are added, at least: to one table, or to several. */
const FILLED = 5_000_000

/** 64 bits for number i, as two words: a seeded hash of nothing in particular. */
function putHash(words, at, i) {
  let low = Math.imul(i ^ (i >>> 16) ^ 0x9e3779b9, 0x85ebca6b)
  low = Math.imul(low ^ (low >>> 13), 0xc2b2ae35)
  let high = Math.imul(i ^ (i >>> 15) ^ 0x5bd1e995, 0x2c1b3c6d)
  high = Math.imul(high ^ (high >>> 12), 0x297a2d39)
  words[2 * at] = low ^ (low >>> 16)
  words[2 * at + 1] = high ^ (high >>> 15)
}

class Table {
  #memory = new WebAssembly.Memory({ initial: 4, maximum: 65_535 })
  #words = new Uint32Array(2 * BATCH)

  constructor(module) {
    this.call = new WebAssembly.Instance(module, { env: { memory: this.#memory } }).exports
    this.call.fingerprintCreate()
  }

  /** Nanoseconds of a call on the batch of the numbers `numberOf(0)` … `numberOf(n - 1)`. */
  time(call, n, numberOf) {
    for (let j = 0; j < n; j++) putHash(this.#words, j, numberOf(j))
    new Uint32Array(this.#memory.buffer, this.call.hashes.value >>> 0, 2 * n).set(
      this.#words.subarray(0, 2 * n),
    )
    const start = process.hrtime.bigint()
    call(0, n)
    return Number(process.hrtime.bigint() - start)
  }

  /** Adds the numbers from `from` to `to`; the nanoseconds it took. */
  fill(from, to) {
    let ns = 0
    for (let i = from; i < to; i += BATCH) {
      ns += this.time(this.call.fingerprintAdd, Math.min(BATCH, to - i), (j) => i + j)
    }
    return ns
  }

  get bytes() {
    return this.call.fingerprintBytes() / this.call.fingerprintCount()
  }
}

/** Calls `act(table, from, to)` for all of [0, count) in turns; the sum of what it returns per number, for each table. */
function inTurns(tables, count, act) {
  const sums = tables.map(() => 0)
  for (let from = 0, turn = 0; from < count; from += TURN, turn++) {
    for (let i = 0; i < tables.length; i++) {
      const which = (i + turn) % tables.length
      sums[which] += act(tables[which], from, Math.min(count, from + TURN))
    }
  }
  return sums.map((sum) => sum / count)
}

/** A number of [0, size) for each number, as if at random. */
const someOf = (size) => (i) => Math.floor(((i * 0.6180339887) % 1) * size)

function rowsOf(kernels, size) {
  for (const { module } of kernels) {
    const table = new Table(module)
    table.fill(0, WARM_UP)
    for (let i = 0; i < WARM_UP; i += BATCH) table.time(table.call.fingerprintHas, BATCH, someOf(WARM_UP))
  }
  let tables = []
  let adding = kernels.map(() => 0)
  // Filling one small table takes too little time to be measured: several are filled, one after the other.
  const fills = Math.ceil(FILLED / size)
  for (let i = 0; i < fills; i++) {
    tables = kernels.map(({ module }) => new Table(module))
    const times = inTurns(tables, size, (table, from, to) => table.fill(from, to))
    adding = adding.map((sum, j) => sum + times[j] / fills)
  }
  const query = (name, numberOf) =>
    inTurns(tables, QUERIES, (table, from, to) => {
      let ns = 0
      for (let i = from; i < to; i += BATCH) ns += table.time(table.call[name], BATCH, (j) => numberOf(i + j))
      return ns
    })
  const columns = [
    adding,
    query('fingerprintAdd', someOf(size)),
    query('fingerprintHas', someOf(size)),
    query('fingerprintHas', (i) => size + i),
  ]
  return kernels.map(({ name }, i) => {
    const cells = columns.map((column) =>
      i === 0 ? figure(column[i]) : `${figure(column[i])} (${(column[i] / column[0]).toFixed(2)})`,
    )
    return [name, size.toExponential(0), figure(tables[i].bytes), ...cells]
  })
}

async function moduleOf(file) {
  const [base64] = readFileSync(file, 'utf8').match(/[A-Za-z0-9+/=]{1000,}/)
  return WebAssembly.compile(Buffer.from(base64, 'base64'))
}

function curveOf(module, last) {
  const one = new Table(module)
  const grid = []
  let size = 0
  for (let next = 1e5; next <= last; next *= 1.02) {
    one.fill(size, Math.round(next))
    size = Math.round(next)
    grid.push(one.bytes)
  }
  const mean = grid.reduce((sum, bytes) => sum + bytes, 0) / grid.length
  return `${grid.length} sizes from 1e5 to ${last.toExponential(0)}: ${figure(mean)} bytes on average, ${figure(Math.min(...grid))} to ${figure(Math.max(...grid))}`
}

const files = [...(values.kernel ?? []).map((file) => [file, file]), ['this build', here]]
const kernels = await Promise.all(
  files.map(async ([name, file]) => ({ name: String(name).split('/').pop(), module: await moduleOf(file) })),
)
if (values.curve) {
  for (const { name, module } of kernels) process.stdout.write(`${name}: ${curveOf(module, sizes.at(-1))}\n`)
} else {
  const titles = ['kernel', 'URLs', 'bytes', 'add new, ns', 'add seen', 'has, seen', 'has, new']
  const rows = sizes.flatMap((size) => rowsOf(kernels, size))
  process.stdout.write(`${table(titles, rows)}\n`)
}
