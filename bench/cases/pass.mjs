// One pass over one filter, in a process of its own: `node pass.mjs REQUEST` prints the operations as JSON.
//   strings   add every URL, then has for some that were added and some that were not
//   verdicts  has, then add what is new: a verdict from filters whose add gives none
//   batches   addMany, 1,000 strings at a time
//   lines     addLines, newline-separated bytes in blocks of 1 MiB
// The input is made before the clock starts: flat one-byte strings, so that none is flattened during the measurement, and
// new copies for every operation, so that no string has its hash already computed.

import { maxUrlBytes, UrlWriter } from '../urls.mjs'

const batchUrls = 1000
const blockBytes = 1 << 20
const maxProbes = 2_000_000
const maxWarmUrls = 100_000
/** Numbers from here on are for the warm-up only. */
const warmFrom = 2 ** 31

const passes = { strings: passStrings, verdicts: passVerdicts, batches: passBatches, lines: passLines }

async function main({ rival, name, pass, seed, urls }) {
  const { filters } = await import(`../rivals/${rival}.mjs`)
  const { open } = filters.find((filter) => filter.name === name)
  const writer = new UrlWriter(seed)
  const warmUrls = Math.min(maxWarmUrls, Math.max(1000, Math.floor(urls / 10)))
  passes[pass](await open(warmUrls), { writer, from: warmFrom, urls: warmUrls })
  return passes[pass](await open(urls), { writer, from: 0, urls })
}

function passStrings(subject, { writer, from, urls }) {
  const heapBefore = heapBytes()
  const rssBefore = process.memoryUsage.rss()
  const added = stringsOf(writer, from, urls, 1)
  const adding = timed(() => countNew(subject, added))
  const heapDeltaBytes = heapBytes() - heapBefore - added.length * 8 // less the benchmark's own array
  const memory = { heapDeltaBytes, rssDeltaBytes: process.memoryUsage.rss() - rssBefore }
  const size = sizeOf(subject, urls, heapDeltaBytes)
  const probes = Math.min(urls, maxProbes)
  const known = stringsOf(writer, from, probes, Math.floor(urls / probes))
  const hits = timed(() => countSeen(subject, known))
  const unknown = stringsOf(writer, from + urls, probes, 1)
  const misses = timed(() => countSeen(subject, unknown))
  const wrongDrops = subject.saysNew ? urls - adding.count : null
  return [
    { operation: 'add', ops: urls, ...adding.times, wrongDrops, ...size, ...memory },
    { operation: 'has hit', ops: probes, ...hits.times, falseNegatives: probes - hits.count },
    { operation: 'has miss', ops: probes, ...misses.times, falsePositives: misses.count },
  ]
}

function passVerdicts(subject, { writer, from, urls }) {
  const strings = stringsOf(writer, from, urls, 1)
  const { count, times } = timed(() => countNewByTest(subject, strings))
  return [{ operation: 'has + add', ops: urls, ...times, wrongDrops: urls - count, ...sizeOf(subject, urls) }]
}

function passBatches(subject, { writer, from, urls }) {
  const strings = stringsOf(writer, from, urls, 1)
  const batches = []
  for (let i = 0; i < urls; i += batchUrls) batches.push(strings.slice(i, i + batchUrls))
  const { count, times } = timed(() => countNewOf(batches, (batch) => subject.addMany(batch), urls))
  return [{ operation: 'addMany', ops: urls, ...times, wrongDrops: urls - count, ...sizeOf(subject, urls) }]
}

function passLines(subject, { writer, from, urls }) {
  const blocks = blocksOf(writer, from, urls)
  const { count, times } = timed(() => countNewOf(blocks, (block) => subject.addLines(block), urls))
  return [{ operation: 'addLines', ops: urls, ...times, wrongDrops: urls - count, ...sizeOf(subject, urls) }]
}

function countNew(subject, strings) {
  let count = 0
  for (let i = 0; i < strings.length; i++) if (subject.add(strings[i])) count++
  return count
}

function countSeen(subject, strings) {
  let count = 0
  for (let i = 0; i < strings.length; i++) if (subject.has(strings[i])) count++
  return count
}

function countNewByTest(subject, strings) {
  let count = 0
  for (let i = 0; i < strings.length; i++) {
    if (subject.has(strings[i])) continue
    subject.add(strings[i])
    count++
  }
  return count
}

/** Reads every verdict, as a user would; one for each URL, or the run is worth nothing. */
function countNewOf(inputs, addAll, urls) {
  let given = 0
  let count = 0
  for (const input of inputs) {
    const verdicts = addAll(input)
    given += verdicts.length
    for (let i = 0; i < verdicts.length; i++) count += verdicts[i]
  }
  if (given !== urls) throw new Error(`got ${given} verdicts for ${urls} URLs`)
  return count
}

/** The filter's own size; without one (Set) what the heap has gained, the strings it keeps alive included. */
function sizeOf(subject, urls, heapDeltaBytes) {
  const sizeBytes = subject.sizeBytes?.() ?? heapDeltaBytes ?? null
  return { sizeBytes, bitsPerUrl: sizeBytes === null ? null : (sizeBytes * 8) / urls }
}

function timed(work) {
  globalThis.gc()
  const cpuBefore = process.cpuUsage()
  const started = process.hrtime.bigint()
  const count = work()
  const elapsedMs = Number(process.hrtime.bigint() - started) / 1e6
  const { user, system } = process.cpuUsage(cpuBefore)
  return { count, times: { elapsedMs, cpuMs: (user + system) / 1e3 } }
}

function heapBytes() {
  globalThis.gc()
  return process.memoryUsage().heapUsed
}

function stringsOf(writer, from, count, step) {
  const buffer = Buffer.allocUnsafe(maxUrlBytes)
  const strings = new Array(count)
  for (let i = 0; i < count; i++) strings[i] = buffer.latin1Slice(0, writer.write(from + i * step, buffer, 0))
  return strings
}

function blocksOf(writer, from, count) {
  const buffer = Buffer.allocUnsafe(blockBytes + maxUrlBytes)
  const blocks = []
  let end = 0
  for (let i = 0; i < count; i++) {
    end = writer.write(from + i, buffer, end)
    buffer[end++] = 0x0a
    if (end < blockBytes && i < count - 1) continue
    blocks.push(Uint8Array.prototype.slice.call(buffer, 0, end))
    end = 0
  }
  return blocks
}

const operations = await main(JSON.parse(process.argv[2]))
process.stdout.write(`${JSON.stringify(operations)}\n`)
