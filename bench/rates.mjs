// What a filter reports as its rate against the rate it has, on the distinct URLs of any file in their order: one half is added,
// then the other half, a part at a time. Each of those is new: where an add answers "seen", the filter is wrong. Predicted are
// the rates reported before and after each part. `npm run bench -- --only rates --file links.txt`.

import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { gunzipSync } from 'node:zlib'
import { freeze, Sieve } from '../dist/index.js'
import { table } from './table.mjs'

const help = `usage: npm run bench -- --only rates --file FILE [options]
  --file FILE      one URL per line, in the order in which they came; .gz is unpacked
  --urls N         distinct URLs (default 800000)
  --profile NAME   how a URL becomes a key (default web)
  --seed N         of the filters' keys (default 1)
`
const BLOCK_BYTES = 1 << 20
/** Fewer wrong answers have nothing to say of a ratio. */
const LEAST_WRONG = 50
const RATES = [0.03, 0.003]
const PARTS = 40
const NEWLINE = 10

/** Every filter with a rate, at sizes at which it errs often enough to be counted. */
export function cases(urls) {
  const sized = [
    'classic',
    'blocked',
    'cuckoo',
    'prefix-layers',
    'eigenvalue',
    'multilayer',
    'keyword-layers',
  ]
  const of = (filter, more = {}) =>
    RATES.map((rate) => ({ filter, expectedUrls: urls, falsePositiveRate: rate, ...more }))
  return [
    { filter: 'fingerprint' },
    ...sized.flatMap((filter) => of(filter)),
    ...['path-shape', 'digits', 'last-segment'].flatMap((features) => of('eigenvalue', { features })),
    ...of('scalable').map((options) => ({ ...options, expectedUrls: Math.ceil(urls / 10) })),
    ...of('window', { inner: 'blocked' }),
    { filter: 'binary-fuse', bits: 8 },
    { filter: 'binary-fuse', bits: 16 },
  ]
}

/** The distinct lines of a file by their keys, in order: the first half of `urls` of them, and the parts of the second. */
export async function distinctLines(bytes, { urls, profile }) {
  const exact = await Sieve.create({ profile })
  const half = Math.floor(urls / 2)
  const each = Math.ceil((urls - half) / PARTS)
  const parts = Array.from({ length: PARTS + 1 }, () => [])
  let found = 0
  for (let from = 0; from < bytes.length && found < urls; ) {
    const at = bytes.indexOf(NEWLINE, Math.min(from + BLOCK_BYTES, bytes.length - 1))
    const end = at < 0 ? bytes.length : at + 1
    const block = bytes.subarray(from, end)
    const verdicts = exact.addLines(block)
    for (let start = 0, line = 0; start < block.length && found < urls; line++) {
      const stop = block.indexOf(NEWLINE, start)
      const next = stop < 0 ? block.length : stop + 1
      const part = found < half ? 0 : 1 + Math.floor((found - half) / each)
      if (verdicts[line] === 1) {
        parts[part].push(block.subarray(start, next))
        found++
      }
      start = next
    }
    from = end
  }
  if (found < urls)
    throw new Error(`${found} distinct URLs in the file: expected ${urls}; give fewer with --urls`)
  return parts.map((lines) => Buffer.concat(lines))
}

const countOnes = (verdicts) => verdicts.reduce((sum, one) => sum + one, 0)

/** What it reports and what it does: `predicted` is null where it reports no rate. */
export async function compare({ filter, bits, ...options }, [held, ...parts], { profile, seed }) {
  const key = new Uint8Array(16).fill(seed)
  const isFrozen = filter === 'binary-fuse'
  const made = await Sieve.create(isFrozen ? { profile, key } : { filter, profile, key, ...options })
  made.addLines(held)
  const sieve = isFrozen ? await freeze(made, { bits }) : made
  let [queries, wrong, predicted] = [0, 0, 0]
  let rate = sieve.stats().expectedRate
  for (const part of parts) {
    const verdicts = isFrozen ? sieve.hasLines(part) : sieve.addLines(part)
    const seen = isFrozen ? countOnes(verdicts) : verdicts.length - countOnes(verdicts)
    const next = sieve.stats().expectedRate
    predicted = rate === null || next === null ? null : predicted + ((rate + next) / 2) * verdicts.length
    rate = next
    queries += verdicts.length
    wrong += seen
  }
  return { predicted: predicted === null ? null : predicted / queries, wrong, queries }
}

const figure = (rate) => (rate === null ? 'none' : rate === 0 ? '0' : rate.toExponential(2))

function rowOf(options, { predicted, wrong, queries }) {
  const { filter, falsePositiveRate, features, bits } = options
  const measured = wrong / queries
  const isEnough = wrong >= LEAST_WRONG && predicted !== null
  const kind = [filter, features, bits && `${bits} bits`].filter(Boolean).join(', ')
  return [
    kind,
    falsePositiveRate === undefined ? '' : String(falsePositiveRate),
    figure(predicted),
    figure(measured),
    String(wrong),
    isEnough ? (predicted / measured).toFixed(2) : '',
  ]
}

export async function benchRates(args) {
  const text = { type: 'string' }
  const options = {
    file: text,
    urls: text,
    queries: text,
    profile: text,
    seed: text,
    help: { type: 'boolean' },
  }
  const { values } = parseArgs({ args, options })
  if (values.help) return void process.stdout.write(help)
  if (values.file === undefined)
    throw new Error('--only rates needs --file FILE: one URL per line; see --only rates --help')
  const settings = {
    urls: Number(values.urls ?? 800_000),
    profile: values.profile ?? 'web',
    seed: Number(values.seed ?? 1),
  }
  for (const name of ['urls', 'seed']) {
    if (!(Number.isSafeInteger(settings[name]) && settings[name] > 0)) {
      throw new Error(`--${name} ${values[name]}: expected a whole number of at least 1`)
    }
  }
  const packed = readFileSync(values.file)
  const parts = await distinctLines(values.file.endsWith('.gz') ? gunzipSync(packed) : packed, settings)
  const rows = []
  for (const options of cases(settings.urls)) {
    rows.push(rowOf(options, await compare(options, parts, settings)))
    process.stderr.write(`${rows.at(-1).join('  ')}\n`)
  }
  process.stdout.write(`${table(['filter', 'sized for', 'predicted', 'measured', 'wrong', 'ratio'], rows)}\n`)
}
