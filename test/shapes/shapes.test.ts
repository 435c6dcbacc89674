// Shapes of planted URLs: counts, distinct values, findings; any cuts of the stream; hostile input.
import { describe, expect, it } from 'vitest'
import { plant } from '../../bench/planted-shapes.mjs'
import { ShapeLimits, Shapes, type ShapesReport } from '../../src/shapes/index.ts'
import { shapesPage } from '../../src/shapes/shape-page.ts'
import { formatShapes } from '../../src/shapes/shape-text.ts'
import { randomFrom } from '../support/random.mjs'

const isFull = process.env.URLSIEVE_FULL === '1'
const URLS = isFull ? 10_000_000 : 60_000
const key = [7, 11] as const
const encoder = new TextEncoder()

const shapesOf = (report: ShapesReport) =>
  new Map(
    report.list.flatMap(({ host, shapes }) => shapes.map((shape) => [host + shape.shape, shape] as const)),
  )

const reportOf = (urls: Iterable<string>, options = {}) => {
  const shapes = new Shapes({ key })
  for (const url of urls) shapes.add(url)
  return shapes.report({ thisYear: 2026, ...options })
}

describe(`${URLS} URLs with planted shapes`, () => {
  const shapes = new Shapes({ key })
  const planted = plant(URLS, 17, (lines) => shapes.addLines(encoder.encode(lines)))
  const report = shapes.report({ thisYear: 2026, shapes: 30 })
  const found = shapesOf(report)

  it('every planted shape is found, and its count is within the stated error', () => {
    expect(report.urls).toBe(URLS)
    expect(report.invalid).toBe(0)
    expect(report.hosts).toBe(20)
    for (const [name, count] of planted) {
      const shape = found.get(name)
      expect(shape, name).toBeDefined()
      // The first 40 words of a place are literals until they are a place; noise can have the same shape.
      expect(shape!.count).toBeLessThanOrEqual(count)
      expect(shape!.count + shape!.error, name).toBeGreaterThanOrEqual(count)
    }
  })

  it('distinct values are within four standard errors', () => {
    const perHost = URLS * 0.95 * (1 / 8) * (1 / 20)
    const expected = 5000 * (1 - Math.exp(-perHost / 5000))
    const place = found.get('site3.example/post/{number}')!.places[0]!
    expect(Math.abs(place.distinct! - expected)).toBeLessThan(4 * (report.distinctError + 0.04) * expected)
    expect(place).toMatchObject({ at: 'segment 2', form: 'number' })
  })

  it('what is suspicious has its kind and a reason', () => {
    const kinds = (shape: string) => found.get(`site3.example${shape}`)!.traps.map(({ kind }) => kind)
    expect(kinds('/wiki/{word}?do=diff&rev={number}')).toEqual(['history'])
    expect(kinds('/calendar?date={date}')).toEqual(['calendar'])
    expect(kinds('/list.php?PHPSESSID={hash}&page={number}')).toEqual(['session', 'counter'])
    expect(kinds('/shop/{word}?color={word}&sort={word}')).toEqual(['sort'])
    expect(kinds('/a/b/a/b/{repeat}')).toEqual(['repeats'])
    expect(kinds('/about')).toEqual([])
    expect(kinds('/files/{hash}.pdf')).toEqual([])
  })

  it('the tree and the page hold every host and finding', () => {
    const text = formatShapes(report)
    expect(text).toContain('20 hosts')
    expect(text).toMatch(/! history: parameter rev has [\d,]+ values: versions of the same pages/)
    const page = shapesPage(report)
    for (const { host } of report.list) expect(page).toContain(host)
    expect(page).not.toMatch(/<script|https?:\/\/[^<]*"/)
  })
})

it('is the same whole, byte by byte and in random cuts', () => {
  let text = ''
  plant(1500, 3, (lines) => {
    text += lines
  })
  const bytes = encoder.encode(`${text}not a URL\r\n\nhttps://last.example/x`)
  const next = randomFrom(9)
  const run = (size: () => number) => {
    const shapes = new Shapes({ key })
    for (let at = 0; at < bytes.length; ) {
      const chunk = bytes.subarray(at, at + size())
      shapes.reserve(chunk.length).set(chunk)
      shapes.push(chunk.length)
      at += chunk.length
    }
    shapes.end()
    return JSON.stringify(shapes.report({ thisYear: 2026 }))
  }
  const whole = run(() => bytes.length)
  expect(JSON.parse(whole)).toMatchObject({ urls: 1501, invalid: 1 })
  expect(run(() => 1)).toBe(whole)
  expect(run(() => 1 + Math.floor(next() * 300))).toBe(whole)
})

it('places found by the data: many words under the same neighbours; a frequent one stays itself', () => {
  const next = randomFrom(2)
  const urls = Array.from({ length: 3000 }, (_, i) =>
    next() < 0.4
      ? `https://a.example/docs/intro/edit`
      : `https://a.example/docs/w${'abcdefghij'[i % 10]}${'klmnopqrst'[((i / 10) % 10) | 0]}x/edit`,
  )
  const [host] = reportOf(urls).list
  expect(host!.shapes.map(({ shape }) => shape)).toEqual(['/docs/{word}/edit', '/docs/intro/edit'])
  const [words, intro] = host!.shapes
  expect(words!.places[0]!.distinct).toBeGreaterThan(90)
  expect(words!.count + intro!.count).toBe(3000)
})

it('years, months and days; a single value is shown as it is', () => {
  const urls = Array.from(
    { length: 600 },
    (_, i) => `https://b.example/v2/${2000 + (i % 20)}/${(i % 12) + 1}/${(i % 28) + 1}/`,
  )
  const [shape] = reportOf(urls).list[0]!.shapes
  expect(shape!.shape).toBe('/v2/{year}/{month}/{day}/')
})

it('parameters: any order is one shape, orders and sets of names are counted', () => {
  const orders = ['a=1&b=2&c=3', 'b=2&a=1&c=3', 'c=3&a=1&b=2', 'c=3&b=2&a=1']
  const urls = Array.from({ length: 400 }, (_, i) => `https://c.example/s?${orders[i % 4]}`)
  const [shape] = reportOf(urls).list[0]!.shapes
  expect(shape!.count).toBe(400)
  expect(shape!.traps).toMatchObject([{ kind: 'facets', reason: 'the same parameters come in 4 orders' }])
  const sprawling = Array.from(
    { length: 500 },
    (_, i) =>
      `https://d.example/s?p${'abcdefghijklmnopqrstuvwxy'[i % 25]}${'abcdefghij'[((i / 25) % 10) | 0]}=1`,
  )
  const mixed = reportOf(sprawling).list[0]!.shapes
  expect(mixed).toMatchObject([{ shape: '/s?{parameters}', count: 500, traps: [{ kind: 'sprawl' }] }])
})

it('facets with numbers in brackets, and parameters behind a semicolon', () => {
  const facets = Array.from({ length: 100 }, (_, i) => `https://e.example/s?f[${i}]=x${i}`)
  expect(reportOf(facets).list[0]!.shapes.map(({ shape }) => shape)).toEqual(['/s?f[0]={name}'])
  const sessions = Array.from(
    { length: 100 },
    (_, i) => `https://e.example/a.jsp;jsessionid=ab${i}cdef012345678`,
  )
  const [shape] = reportOf(sessions).list[0]!.shapes
  expect(shape).toMatchObject({ shape: '/a.jsp;jsessionid={hash}', traps: [{ kind: 'session' }] })
})

it('hosts: lower case, no credentials, no default port', () => {
  const urls = [
    'http://A.example/',
    'https://u:p@a.example:443/',
    'http://a.example:80',
    'https://a.example:8080/',
  ]
  const { list } = reportOf(urls)
  expect(list.map(({ host, count }) => [host, count])).toEqual([
    ['a.example', 3],
    ['a.example:8080', 1],
  ])
})

describe('hostile input', () => {
  it('random hosts, paths and names: the nodes stay bounded, the counts keep their error', () => {
    const next = randomFrom(4)
    const shapes = new Shapes({ key, maxNodes: 1024 })
    const word = () => Math.floor(next() * 1e9).toString(36)
    let real = 0
    for (let i = 0; i < 30_000; i++) {
      if (i % 5 === 0) {
        real++
        shapes.add('https://real.example/page?x=1')
      } else shapes.add(`https://${word()}.example/${word()}/${word()}?${word()}=${word()}&${word()}`)
    }
    const report = shapes.report({ hosts: 1 })
    const [first] = report.list
    expect(first!.host).toBe('real.example')
    expect(first!.count).toBeLessThanOrEqual(real)
    expect(first!.count + first!.error).toBeGreaterThanOrEqual(real)
    expect(first!.count).toBeGreaterThan(real * 0.95)
    expect(report.countError).toBeLessThan(report.urls * 0.05)
    expect(report.urls).toBe(30_000)
  })

  it('endless paths, names and lines', () => {
    const shapes = new Shapes({ key })
    shapes.add(`https://f.example/${'a/'.repeat(5000)}`)
    shapes.add(
      `https://f.example/${Array.from({ length: 5000 }, (_, i) => `s${i}`).join('/')}?${'x&'.repeat(3000)}`,
    )
    shapes.add(`https://f.example/?${Array.from({ length: 5000 }, (_, i) => `n${i}=${i}`).join('&')}`)
    shapes.add(`https://${'h'.repeat(300)}.example/`)
    for (const bad of ['', 'x', '://', 'http://', 'http:///x', 'http://a b/', 'mailto:a@b.example'])
      shapes.add(bad)
    const long = encoder.encode(`${'z'.repeat(300_000)}\nhttps://f.example/\n`)
    for (let at = 0; at < long.length; at += 50_000) {
      const chunk = long.subarray(at, at + 50_000)
      shapes.reserve(chunk.length).set(chunk)
      shapes.push(chunk.length)
    }
    expect(shapes.report()).toMatchObject({ urls: 4, invalid: 8 })
    const listed = shapes.report().list[0]!.shapes.map(({ shape }) => shape)
    expect(listed).toContain('/a/a/{repeat}')
    expect(listed).toContain('/')
  })

  it('control characters and markup do not reach terminal or page', () => {
    const urls = Array.from({ length: 3 }, () => 'https://g.example/\x1b[31m<img src=x onerror=alert(1)>"\'')
    const report = reportOf(urls)
    expect(formatShapes(report)).not.toContain('\x1b')
    expect(shapesPage(report)).not.toContain('<img')
  })

  it('an invalid option is one line', () => {
    expect(() => new Shapes({ maxNodes: 3 })).toThrow(
      'maxNodes 3: expected a whole number from 1024 to 4194304',
    )
  })
})

describe('lines that are too long', () => {
  const long = `https://a.example/${'x'.repeat(70_000)}`
  const two = 'https://a.example/1\nhttps://a.example/2\n'
  const countsOf = (take: (shapes: Shapes) => void) => {
    const shapes = new Shapes({ key })
    take(shapes)
    const { urls, invalid } = shapes.report()
    return { lines: shapes.lines, urls, invalid }
  }
  const push = (shapes: Shapes, text: string) => {
    const bytes = encoder.encode(text)
    shapes.reserve(bytes.length).set(bytes)
    shapes.push(bytes.length)
  }

  it('are counted, also without a newline at the end, and those behind them are read', () => {
    const expected = { lines: 3, urls: 2, invalid: 1 }
    const calls = (shapes: Shapes) => {
      for (const text of [long, two]) shapes.addLines(encoder.encode(text))
    }
    expect(countsOf(calls)).toEqual(expected)
    expect(countsOf((shapes) => shapes.addLines(encoder.encode(`${long}\n${two}`)))).toEqual(expected)
    const inputs = (shapes: Shapes) => {
      for (const text of [long, two]) {
        push(shapes, text)
        shapes.end()
      }
    }
    expect(countsOf(inputs)).toEqual(expected)
    const longest = `https://a.example/${'x'.repeat(900_000)}`
    expect(countsOf((shapes) => shapes.addLines(encoder.encode(`${two}${longest}\n${two}`)))).toEqual({
      lines: 5,
      urls: 4,
      invalid: 1,
    })
  })

  it('white space at the end does not count', () => {
    for (const spaces of [70_000, 700_000]) {
      const text = `https://a.example/1${' '.repeat(spaces)}\r\n${' '.repeat(spaces)}\n${two}`
      expect(countsOf((shapes) => shapes.addLines(encoder.encode(text)))).toEqual({
        lines: 3,
        urls: 3,
        invalid: 0,
      })
    }
  })

  it('one URL in the middle of a buffer, and more bytes than were reserved', () => {
    const shapes = new Shapes({ key })
    const bytes = encoder.encode(two)
    shapes.reserve(bytes.length).set(bytes)
    shapes.add('https://b.example/')
    shapes.push(bytes.length)
    expect(shapes.report()).toMatchObject({ urls: 3, invalid: 0 })
    expect(() => shapes.push(1)).toThrow('push of 1 bytes: expected at most the 0 reserved')
  })
})

it('what is found below nodes that are moved is found there later', () => {
  const limits = new ShapeLimits({ keepPerShape: 2, maxNodes: 1024 })
  const special = (n: number) => `https://h.example/first/special/deep/${n}`
  limits.admit(special(1))
  limits.admit(special(2))
  expect(limits.judge(special(3))).toMatchObject({ limit: 'keepPerShape' })
  const word = (n: number) => String.fromCharCode(97 + Math.floor(n / 26), 97 + (n % 26), 122)
  for (let i = 0; i < 60; i++) limits.admit(`https://h.example/${word(i)}/b/c/d/e/f/g/h/1`)
  expect(limits.judge(special(3))).toMatchObject({ limit: 'keepPerShape' })
})
