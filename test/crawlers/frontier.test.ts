// The frontier against a plain list: order, states, what is left after a crash at any byte, files that go.
import { readdirSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { Frontier, type FrontierOptions } from '../../src/crawlers/frontier.ts'
import { siteItems } from '../../src/crawlers/site-item.ts'
import { copyFolder } from '../store/copy.ts'
import { newFolders } from '../support/folders.ts'
import { randomFrom } from '../support/random.mjs'

const folder = newFolders()

/** The folder as a killed process would leave it: a copy, without the lock. */
function killed(from: string): string {
  const to = folder()
  copyFolder(from, to, (path) => !path.endsWith('/lock'))
  return to
}

const put = (frontier: Frontier, ...texts: string[]) => frontier.release(frontier.hold(texts))
const rest = (frontier: Frontier) => {
  const texts: string[] = []
  for (let entry = frontier.next(); entry; entry = frontier.next()) texts.push(entry.text)
  return texts
}
const pending = (path: string) => {
  const frontier = Frontier.open({ folder: path })
  try {
    return { texts: [...frontier.texts()].flat(), pending: frontier.pending, handled: frontier.handled }
  } finally {
    frontier.close()
  }
}

const kinds: [string, () => FrontierOptions][] = [
  ['in memory', () => ({})],
  ['on disk', () => ({ folder: folder() })],
  ['on disk, in small files', () => ({ folder: folder(), fileBytes: 300 })],
]

describe.each(kinds)('%s', (_, options) => {
  it('gives texts out in the order written, each once', () => {
    const frontier = Frontier.open(options())
    put(frontier, 'a', 'b')
    expect(frontier.next()?.text).toBe('a')
    put(frontier, 'c', 'ü\n"')
    expect(rest(frontier)).toEqual(['b', 'c', 'ü\n"'])
    expect(frontier).toMatchObject({ pending: 4, handled: 0 })
    frontier.close()
  })

  it('holds a batch, and those after it, until it is released', () => {
    const frontier = Frontier.open(options())
    const first = frontier.hold(['a', 'b', 'c'])
    const second = frontier.hold(['d'])
    frontier.release(second)
    expect(frontier.hasNext).toBe(false)
    frontier.release(first, [first.places[1]!])
    expect(rest(frontier)).toEqual(['a', 'c', 'd'])
    expect(frontier.pending).toBe(3)
    frontier.close()
  })

  it('lets some go first', () => {
    const frontier = Frontier.open(options())
    put(frontier, 'a', 'b')
    frontier.release(frontier.hold(['c', 'd']), [], true)
    const c = frontier.next()!
    expect(c.text).toBe('c')
    frontier.again(c.place, 'c again', true)
    expect(rest(frontier)).toEqual(['c again', 'd', 'a', 'b'])
    frontier.close()
  })

  it('agrees with a list through 5,000 random steps', () => {
    const random = randomFrom(5)
    const below = (end: number) => Math.floor(random() * end)
    const frontier = Frontier.open(options())
    const plain: string[] = []
    const open: { place: number; text: string }[] = []
    let handled = 0
    for (let step = 0; step < 5000; step++) {
      const choice = below(5)
      if (choice === 0) {
        const texts = Array.from({ length: 1 + below(4) }, (_, i) => `${step}.${i}`)
        const held = frontier.hold(texts)
        const back = held.places.filter(() => below(6) === 0)
        frontier.release(held, back)
        plain.push(...texts.filter((_, i) => !back.includes(held.places[i]!)))
      } else if (choice <= 2) {
        const entry = frontier.next()
        expect(entry?.text).toBe(plain.shift())
        if (entry) open.push(entry)
      } else if (open.length > 0) {
        const [entry] = open.splice(below(open.length), 1) as [{ place: number; text: string }]
        if (choice === 3 || below(3) > 0) {
          frontier.finish(entry.place)
          handled++
        } else {
          frontier.again(entry.place, `${entry.text}!`)
          plain.push(`${entry.text}!`)
        }
      }
      expect(frontier.pending).toBe(plain.length + open.length)
    }
    expect(frontier.handled).toBe(handled)
    expect(handled).toBeGreaterThan(1000)
    frontier.close()
  })
})

describe('after a crash', () => {
  it('what was in progress is pending again, what was handled is not', () => {
    const path = folder()
    const frontier = Frontier.open({ folder: path })
    put(frontier, 'a', 'b', 'c', 'd')
    const [a, b] = [frontier.next()!, frontier.next()!]
    frontier.finish(b.place)
    frontier.again(a.place, 'a!')
    expect(pending(killed(path))).toEqual({ texts: ['c', 'd', 'a!'], pending: 3, handled: 1 })
    frontier.close()
    expect(pending(path)).toEqual({ texts: ['c', 'd', 'a!'], pending: 3, handled: 1 })
  })

  it('a held batch is not lost', () => {
    const path = folder()
    const frontier = Frontier.open({ folder: path })
    frontier.hold(['a', 'b'])
    expect(pending(killed(path)).texts).toEqual(['a', 'b'])
    frontier.close()
  })

  it('cut at any byte, a record counts when it is whole, and the file goes on from there', () => {
    const path = folder()
    const frontier = Frontier.open({ folder: path })
    const name = readdirSync(path).find((file) => file.startsWith('frontier-'))!
    const size = () => statSync(join(path, name)).size
    put(frontier, 'a')
    const whole = size()
    put(frontier, 'b', 'c')
    frontier.next()
    for (let bytes = whole; bytes <= size(); bytes++) {
      const copy = killed(path)
      truncateSync(join(copy, name), bytes)
      const left = bytes === size() ? ['a', 'b', 'c'] : ['a']
      const again = Frontier.open({ folder: copy })
      put(again, 'd')
      again.close()
      expect(pending(copy).texts).toEqual([...left, 'd'])
    }
    frontier.close()
  })

  it('one process at a time', () => {
    const path = folder()
    const frontier = Frontier.open({ folder: path })
    expect(() => Frontier.open({ folder: path })).toThrow(/is held by process/)
    frontier.close()
    Frontier.open({ folder: path }).close()
  })
})

it('a crawl that version 0.1.0 began goes on: its items are read', () => {
  const written = [
    '{"url":"http://example.com/"}',
    '{"url":"http://example.com/a","retryCount":1,"userData":{"__crawlee":{"crawlDepth":3}}}',
  ]
  const first = { url: 'http://example.com/', depth: 0, via: [], retries: 0 }
  const second = { url: 'http://example.com/a', depth: 3, via: [], retries: 1 }
  expect(written.map((text) => siteItems.itemOf(text))).toEqual([first, second])
  const led = { ...second, via: ['http://example.com/b'] }
  expect(siteItems.itemOf(siteItems.textOf(led))).toEqual(led)
  expect(siteItems.keyIn(siteItems.textOf(led))).toBe(siteItems.keyOf(led))
})

describe('files', () => {
  it('whose texts are all handled go, and the counts stay', () => {
    const path = folder()
    const options = { folder: path, fileBytes: 20_000 }
    const frontier = Frontier.open(options)
    let next = 0
    for (let round = 0; round < 60; round++) {
      put(frontier, ...Array.from({ length: 200 }, () => `https://example.com/${next++}`))
      for (let i = 0; i < 195; i++) frontier.finish(frontier.next()!.place)
    }
    const bytes = readdirSync(path).reduce((sum, file) => sum + statSync(join(path, file)).size, 0)
    expect(bytes).toBeLessThan(200_000)
    expect(pending(killed(path))).toMatchObject({ pending: 300, handled: 60 * 195 })
    frontier.close()
    const { texts } = pending(path)
    expect(texts).toEqual(Array.from({ length: 300 }, (_, i) => `https://example.com/${60 * 195 + i}`))
  })

  it('a file whose header was not whole is begun anew; one that is damaged is said', () => {
    const path = folder()
    Frontier.open({ folder: path }).close()
    const name = join(path, readdirSync(path).find((file) => file.startsWith('frontier-'))!)
    truncateSync(name, 10)
    expect(pending(path)).toEqual({ texts: [], pending: 0, handled: 0 })
    writeFileSync(name, 'x'.repeat(100))
    expect(() => Frontier.open({ folder: path })).toThrow(/damaged at byte 0/)
  })
})
