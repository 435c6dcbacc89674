// Calls with few URLs to a sieve on disk (`urlsieve/disk`) that is larger than its memory: microseconds per URL, and runs read per URL,
// for URLs that are new and for URLs that were added.
//   node bench/disk-calls.mjs [--urls 2e7] [--memory 64M] [--call 50] [--dist FOLDER]

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { builtFile } from './programs.mjs'
import { figure, table } from './table.mjs'
import { maxUrlBytes, UrlWriter } from './urls.mjs'

const { values } = parseArgs({
  options: {
    urls: { type: 'string', default: '2e7' },
    memory: { type: 'string', default: '64M' },
    call: { type: 'string', default: '50' },
    /** Another build of urlsieve, for comparison. */
    dist: { type: 'string' },
  },
})
const urls = Number(values.urls)
const perCall = Number(values.call)
const maxMemory = Number.parseInt(values.memory, 10) * 1024 ** 2
const LARGE = 500_000
const ASKED = 20_000

const entry = values.dist
  ? pathToFileURL(join(values.dist, 'disk/index.js')).href
  : builtFile('disk/index.js')
const { DiskSieve } = await import(entry)
const writer = new UrlWriter(1)
const buffer = Buffer.alloc(LARGE * 256 + maxUrlBytes)

/** The lines of `count` URLs: numbers from, from + step, … */
function lines(from, step, count) {
  let at = 0
  for (let i = 0; i < count; i++) {
    at = writer.write(from + i * step, buffer, at)
    buffer[at++] = 10
  }
  return buffer.subarray(0, at)
}

const folder = mkdtempSync(join(tmpdir(), 'urlsieve-calls-'))
try {
  const start = performance.now()
  const sieve = await DiskSieve.open(folder, { maxMemory, durability: 'never' })
  for (let i = 0; i < urls; i += LARGE) await sieve.addLines(lines(i, 1, Math.min(LARGE, urls - i)))
  const { runs } = sieve.stats().store
  process.stdout.write(
    `${urls.toLocaleString('en')} URLs in ${((performance.now() - start) / 1000).toFixed(1)} s, ${runs} runs, ${values.memory}; calls of ${perCall}\n`,
  )
  const step = Math.floor(urls / ASKED)
  const rows = []
  for (const [name, verb, from] of [
    ['has, seen', 'hasLines', 0],
    ['has, new', 'hasLines', urls],
    ['add, seen', 'addLines', step >> 1],
    ['add, new', 'addLines', 2 * urls],
  ]) {
    const before = { ...sieve.stats().answers }
    let ms = 0
    for (let i = 0; i < ASKED; i += perCall) {
      const some = lines(from + i * step, step, Math.min(perCall, ASKED - i))
      const begin = performance.now()
      await sieve[verb](some)
      ms += performance.now() - begin
    }
    const after = sieve.stats().answers
    const reads = after.reads === undefined ? '–' : figure((after.reads - before.reads) / ASKED)
    rows.push([name, figure((ms * 1000) / ASKED), reads, String(after.passes - before.passes)])
  }
  process.stdout.write(`${table(['call', 'µs per URL', 'reads per URL', 'passes'], rows)}\n`)
  await sieve.close()
} finally {
  rmSync(folder, { recursive: true, force: true })
}
