// A seeded list of URLs with planted shapes, and how often each was planted.
import { randomFrom } from '../test/support/random.mjs'

const HOSTS = 20

/**
 * n URLs: eight planted shapes on twenty hosts, and a share of URLs each of whose segments is random. They go to `take` in
 * pieces of whole lines. Returns the URLs per `host` + shape.
 */
export function plant(n, seed, take, noise = 0.05) {
  const next = randomFrom(seed)
  const below = (limit) => Math.floor(next() * limit)
  const word = () => Array.from({ length: 4 + below(5) }, () => String.fromCharCode(103 + below(20))).join('')
  const hex = (digits) => Array.from({ length: digits }, () => below(16).toString(16)).join('')
  const two = (value) => String(value).padStart(2, '0')
  const topics = Array.from({ length: 3000 }, word)
  const topic = () => topics[below(topics.length)]
  const kinds = [
    ['/post/{number}', () => `/post/${below(5000)}`],
    ['/wiki/{word}?do=diff&rev={number}', () => `/wiki/${topic()}?rev=${below(4000)}&do=diff`],
    [
      '/calendar?date={date}',
      () => `/calendar?date=${2000 + below(80)}-${two(1 + below(12))}-${two(1 + below(28))}`,
    ],
    ['/list.php?PHPSESSID={hash}&page={number}', () => `/list.php?page=${below(90)}&PHPSESSID=a1${hex(30)}`],
    [
      '/shop/{word}?color={word}&sort={word}',
      () => `/shop/${topic()}?${next() < 0.5 ? 'sort=price&color=red' : 'color=blue&sort=name'}`,
    ],
    ['/files/{hash}.pdf', () => `/files/b2${hex(30)}.pdf`],
    ['/a/b/a/b/{repeat}', () => `/a/b/a/b/a/b/${topic()}`],
    ['/about', () => '/about'],
  ]
  const counts = new Map()
  let lines = []
  const flush = () => {
    take(`${lines.join('\n')}\n`)
    lines = []
  }
  for (let i = 0; i < n; i++) {
    if (lines.length === 10_000) flush()
    const host = `site${below(HOSTS)}.example`
    if (next() < noise) {
      lines.push(`https://${host}/${word()}/${word()}/${word()}?${word()}=${word()}`)
      continue
    }
    const [shape, make] = kinds[below(kinds.length)]
    counts.set(host + shape, (counts.get(host + shape) ?? 0) + 1)
    lines.push(`https://${host}${make()}`)
  }
  flush()
  return counts
}
