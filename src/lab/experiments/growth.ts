// Does the fingerprint filter stay flat? Cost and bytes per URL from ten thousand URLs to a hundred million, the largest
// step by which its memory grows, and the longest that one batch waited for it.
import { Sieve } from '../../sieve.ts'
import type { Claim, Experiment, Lab, Plot, Result, Table } from '../experiment.ts'
import { LineWriter } from '../line-writer.ts'
import { Stopwatch } from '../stopwatch.ts'
import { count, factor } from '../wording.ts'

const SIZES = [1e4, 3e4, 1e5, 3e5, 1e6, 3e6, 1e7, 3e7, 1e8]
const QUICK_SIZES = [1e4, 3e4, 1e5, 3e5, 1e6]
/** URLs of the list that are used over and over, each time with the number of the round behind them. */
const BLOCK_URLS = 1_000_000
const QUICK_BLOCK_URLS = 100_000
const BATCH_URLS = 2048
const WARM_URLS = 200_000
/** The round's number: always as many digits, so that URLs do not grow with n. */
const ROUND_DIGITS = 4
/** Up to this ratio of the dearest to the cheapest we call it flat. */
const FLAT = 2

/** Newline-separated URLs whose last digits can be changed in place. */
class Rounds {
  readonly count: number
  readonly #lines: Uint8Array
  /** Where each line begins, and at the end the length of all. */
  readonly #starts: Uint32Array

  constructor(lines: Uint8Array, starts: Uint32Array) {
    this.#lines = lines
    this.#starts = starts
    this.count = starts.length - 1
  }

  /** URLs [from, to) of a round, as lines. */
  lines(round: number, from: number, to: number): Uint8Array {
    const digits = String(round).padStart(ROUND_DIGITS, '0')
    for (let i = from; i < to; i++) {
      const end = this.#starts[i + 1]! - 1
      for (let d = 0; d < ROUND_DIGITS; d++) this.#lines[end - ROUND_DIGITS + d] = digits.charCodeAt(d)
    }
    return this.#lines.subarray(this.#starts[from], this.#starts[to])
  }
}

async function rounds(lab: Lab): Promise<Rounds> {
  const urls = await lab.urls(lab.quick ? QUICK_BLOCK_URLS : BLOCK_URLS)
  const writer = new LineWriter(urls.count * 80)
  const starts = new Uint32Array(urls.count + 1)
  for (let i = 0; i < urls.count; i++) {
    writer.copy(urls.bytes, urls.starts[i]!, urls.ends[i]!)
    // A place for the round: '/' keeps it apart from digits that the URL ends with.
    writer
      .slash()
      .number(10 ** (ROUND_DIGITS - 1))
      .end()
    starts[i + 1] = writer.lines.length
  }
  return new Rounds(writer.lines.slice(), starts)
}

interface Stage {
  readonly urls: number
  readonly added: number
  readonly ns: number
  readonly meanNs: number
  readonly bytesPerUrl: number
  readonly stepBytes: number
  readonly longestMs: number
  readonly medianMs: number
}

// The engine compiles as it runs: without a first pass that nobody looks at, the first row would be about that.
async function warmUp(block: Rounds): Promise<void> {
  const sieve = await Sieve.create({ filter: 'fingerprint', profile: 'raw' })
  for (let from = 0; from < Math.min(block.count, WARM_URLS); from += BATCH_URLS) {
    sieve.addLines(block.lines(0, from, Math.min(block.count, from + BATCH_URLS)))
  }
}

async function grow(lab: Lab, sizes: readonly number[]): Promise<Stage[]> {
  const block = await rounds(lab)
  await warmUp(block)
  const sieve = await Sieve.create({ filter: 'fingerprint', profile: 'raw', key: lab.key('growth') })
  const stages: Stage[] = []
  let bytes = sieve.stats().sizeBytes
  let done = 0
  for (const [i, size] of sizes.entries()) {
    lab.progress(done / sizes.at(-1)!, `${count(size)} URLs`)
    const times: number[] = []
    const total = new Stopwatch()
    const before = done
    let stepBytes = 0
    while (done < size) {
      const from = done % block.count
      const to = Math.min(block.count, from + BATCH_URLS, from + size - done)
      const lines = block.lines(Math.floor(done / block.count), from, to)
      const earlier = total.seconds
      total.time(() => sieve.addLines(lines))
      times.push((total.seconds - earlier) * 1000)
      done += to - from
      const now = sieve.stats().sizeBytes
      stepBytes = Math.max(stepBytes, now - bytes)
      bytes = now
      if (times.length % 4096 === 0) lab.progress(done / sizes.at(-1)!, `${count(sizes[i]!)} URLs`)
    }
    times.sort((a, b) => a - b)
    stages.push({
      urls: sieve.stats().urls,
      added: done - before,
      // Of the median batch: other work on the machine makes the mean larger, and never smaller.
      ns: (times[times.length >> 1]! * 1e6) / BATCH_URLS,
      meanNs: total.nsEach(done - before),
      bytesPerUrl: bytes / done,
      stepBytes,
      longestMs: times.at(-1)!,
      medianMs: times[times.length >> 1]!,
    })
  }
  return stages
}

function stageTable(stages: readonly Stage[]): Table {
  return {
    title: 'The fingerprint filter as it grows',
    note: `One filter without an expected number of URLs, profile raw, batches of ${count(BATCH_URLS)} URLs. Each row covers the URLs added since the previous row. After the end of the list its URLs repeat with another number appended. A step is the growth of memory within one batch.`,
    columns: [
      { name: 'URLs', as: 'count' },
      { name: 'added', as: 'count' },
      { name: 'median ns/add', as: 'time', timing: true },
      { name: 'mean ns/add', as: 'time', timing: true },
      { name: 'bytes/URL', as: 'ratio' },
      { name: 'largest step, bytes', as: 'bytes' },
      { name: 'median batch, ms', as: 'time', timing: true },
      { name: 'longest batch, ms', as: 'time', timing: true },
    ],
    rows: stages.map((stage) => [
      stage.urls,
      stage.added,
      stage.ns,
      stage.meanNs,
      stage.bytesPerUrl,
      stage.stepBytes,
      stage.medianMs,
      stage.longestMs,
    ]),
  }
}

function plots(stages: readonly Stage[]): Plot[] {
  const plot = (title: string, label: string, of: (stage: Stage) => number, log = false): Plot => ({
    title,
    alt: `${title}, against the number of URLs`,
    x: { label: 'URLs', log: true },
    y: { label, log },
    kind: 'line',
    series: [{ name: 'fingerprint', points: stages.map((stage) => ({ x: stage.urls, y: of(stage) })) }],
  })
  const stalls = plot('Batches while it grows', 'ms', ({ longestMs }) => longestMs, true)
  return [
    plot('Cost of a URL, median batch', 'ns', ({ ns }) => ns),
    plot('Memory of a URL', 'bytes', ({ bytesPerUrl }) => bytesPerUrl),
    {
      ...stalls,
      alt: 'The longest and the median batch of 2,048 URLs, in milliseconds, against the number of URLs',
      series: [
        { name: 'longest batch', points: stalls.series[0]!.points },
        { name: 'median batch', points: stages.map(({ urls, medianMs }) => ({ x: urls, y: medianMs })) },
      ],
    },
  ]
}

function finding(stages: readonly Stage[]): string {
  const spread = (of: (stage: Stage) => number) => Math.max(...stages.map(of)) / Math.min(...stages.map(of))
  const [first, last] = [stages[0]!, stages.at(-1)!]
  const [time, memory] = [spread(({ ns }) => ns), spread(({ bytesPerUrl }) => bytesPerUrl)]
  const describe = (ratio: number) => (ratio <= FLAT ? 'stays flat' : 'does not stay flat')
  const dearest = stages.reduce((most, stage) => (stage.ns > most.ns ? stage : most))
  const longest = Math.max(...stages.map(({ longestMs }) => longestMs))
  const step = Math.max(...stages.map(({ stepBytes }) => stepBytes))
  return [
    `From ${count(first.urls)} to ${count(last.urls)} URLs the time per URL ${describe(time)} (median batches: highest / lowest ${factor(time)}; highest up to ${count(dearest.urls)} URLs)`,
    `and the memory per URL ${describe(memory)} (most / least ${factor(memory)}, ${last.bytesPerUrl.toFixed(1)} bytes at the end).`,
    `The largest step takes ${count(step)} bytes, ${step > last.bytesPerUrl * last.urls * 0.1 ? 'a large part' : 'a small part'} of the ${count(last.bytesPerUrl * last.urls)} it holds at the end; the longest of all batches took ${factor(longest)} ms.`,
  ].join(' ')
}

function claims(stages: readonly Stage[]): Claim[] {
  const spread = (of: (stage: Stage) => number) => Math.max(...stages.map(of)) / Math.min(...stages.map(of))
  const last = stages.at(-1)!
  const [time, memory] = [spread(({ ns }) => ns), spread(({ bytesPerUrl }) => bytesPerUrl)]
  const step = Math.max(...stages.map(({ stepBytes }) => stepBytes))
  return [
    {
      source: 'ours',
      claim: 'the memory per URL of fingerprint stays flat while it grows, and grows in small steps',
      verdict: memory <= FLAT && step < last.bytesPerUrl * last.urls * 0.1 ? 'confirmed' : 'wrong',
      number: `most / least ${factor(memory)} up to ${count(last.urls)} URLs; the largest step has ${count(step)} bytes; the time of a URL (no verdict: it depends on what else the machine does) highest / lowest ${factor(time)}`,
    },
  ]
}

async function run(lab: Lab): Promise<Result> {
  lab.progress(0, 'URLs')
  const stages = await grow(lab, lab.quick ? QUICK_SIZES : SIZES)
  lab.progress(1, 'done')
  return {
    claims: claims(stages),
    finding: finding(stages),
    tables: [stageTable(stages)],
    plots: plots(stages),
  }
}

export const growth: Experiment = {
  name: 'growth',
  title: 'The default filter as it grows',
  source: 'ours',
  question: 'Do the time and the memory per URL stay flat while the fingerprint filter grows?',
  run,
}
