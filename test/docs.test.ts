// The documents name only what is there: names that the package exports, and pages that exist.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('..', import.meta.url))
const docs = readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md'))
const pages = ['README.md', 'CONTRIBUTING.md', ...docs.map((name) => `docs/${name}`)]
const entries: Readonly<Record<string, string>> = {
  urlsieve: '../src/index.ts',
  'urlsieve/exact': '../src/exact/index.ts',
  'urlsieve/disk': '../src/disk/index.ts',
  'urlsieve/redis': '../src/redis/index.ts',
  'urlsieve/crawlee': '../src/crawlers/crawlee.ts',
  'urlsieve/shapes': '../src/shapes/index.ts',
  'urlsieve/learn': '../src/learn/index.ts',
}

describe.each(pages)('%s', (page) => {
  const text = readFileSync(join(root, page), 'utf8')

  it('imports what the package exports', async () => {
    for (const [, names, entry] of text.matchAll(/import \{([^}]+)\} from '(urlsieve[^']*)'/g)) {
      expect(entries, entry).toHaveProperty([entry!])
      const exported = Object.keys(await import(entries[entry!]!))
      for (const name of names!.split(',').map((part) => part.trim())) {
        if (name && !name.startsWith('type ')) expect(exported, `${name} of ${entry}`).toContain(name)
      }
    }
  })

  it('names tests that exist', () => {
    for (const [, path] of text.matchAll(/`(test\/[\w./-]+)`/g)) {
      expect(existsSync(join(root, path!)), path).toBe(true)
    }
  })

  it('links to pages that exist', () => {
    for (const [, target] of text.matchAll(/\]\(([^)#\s]+)[^)]*\)/g)) {
      if (/^[a-z]+:/.test(target!)) continue
      const path = join(root, dirname(page), target!)
      expect(existsSync(path), target).toBe(true)
    }
  })
})

describe('the tour of CONTRIBUTING.md', () => {
  const text = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8')
  const tour = text.split('## The tour\n')[1]!.split('\n## ')[0]!
  const ways = tour.split(/^### /m).slice(1)

  it('has the five ways', () => {
    const titles = ways.map((way) => way.split('\n', 1)[0])
    expect(titles).toEqual([
      '`urlsieve dedupe FILE`',
      '`Sieve.add`',
      '`BF.MADD`',
      '`Sieve.open`',
      '`RedisSieve.addMany`',
    ])
  })

  it.each(ways)('%s', (way) => {
    const files = [...way.matchAll(/^\d+\. `([\w./-]+)`/gm)].map(([, file]) => file!)
    expect(files.length).toBeGreaterThan(5)
    expect(files.filter((file) => !existsSync(join(root, file)))).toEqual([])
    expect(new Set(files).size).toBe(files.length)
  })
})
