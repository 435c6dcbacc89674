// The library entry: no dependency and nothing of Node in all it reaches, and a bundle of it that works where there is
// little more than WebAssembly and URL, as in a browser.
import { existsSync, readFileSync } from 'node:fs'
import { dirname, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createContext, Script } from 'node:vm'
import { build } from 'vite'
import { describe, expect, it } from 'vitest'
import * as library from '../src/index.ts'
import { Sieve } from '../src/index.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const entry = resolve(root, 'src/index.ts')

/** What a browser gets for each name in package.json's `imports`, as a source file. */
const inBrowser: Record<string, string> = Object.fromEntries(
  Object.entries(
    JSON.parse(readFileSync(resolve(root, 'package.json'), 'utf8')).imports as Record<
      string,
      { browser: string }
    >,
  ).map(([name, { browser }]) => [
    name,
    resolve(root, browser.replace('./dist/', 'src/').replace(/\.js$/, '.ts')),
  ]),
)

/** Everything that a module asks for when it runs: imports and re-exports, dynamic ones too, but no types. */
function importsOf(text: string): string[] {
  const code = text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '')
  const named = /^\s*(?:import|export)\s+(?!type\b)(?:[\w*{][^;'"]*?\bfrom\s*)?['"]([^'"]+)['"]/gm
  const dynamic = /\b(?:import|require)\s*\(\s*['"`]([^'"`]+)['"`]/g
  return [...code.matchAll(named), ...code.matchAll(dynamic)].map(([, name]) => name!)
}

/** Every file the entry reaches, and whatever it asks for that is no file of ours. */
function walk(from: string): { files: Set<string>; foreign: string[] } {
  const files = new Set<string>()
  const foreign: string[] = []
  const open = [from]
  for (let file = open.pop(); file; file = open.pop()) {
    if (files.has(file)) continue
    files.add(file)
    for (const name of importsOf(readFileSync(file, 'utf8'))) {
      if (name.startsWith('.')) open.push(resolve(dirname(file), name))
      else if (name in inBrowser) open.push(inBrowser[name]!)
      else foreign.push(`${relative(root, file)} imports ${name}`)
    }
  }
  return { files, foreign }
}

describe('imports', () => {
  it('the reader of imports finds them all', () => {
    expect(
      importsOf(`
        import a from 'a'
        import { b,
          c } from "b"
        import 'c'
        import * as d from 'd'
        export { e } from 'e'
        export * from 'f'
        import type { X } from 'not-1'
        export type { Y } from 'not-2'
        // import z from 'not-3'
        /* import z from 'not-4' */
        import { type T, g } from 'g'
        const h = await import('h')
      `).sort(),
    ).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'])
  })

  it('the entry and all it reaches import no dependency and no Node module', () => {
    const { files, foreign } = walk(entry)
    expect(foreign).toEqual([])
    expect(files.size).toBeGreaterThan(15)
    for (const file of files) {
      expect(existsSync(file), file).toBe(true)
      const text = readFileSync(file, 'utf8').replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '')
      expect(text, relative(root, file)).not.toMatch(/\b(?:process|Buffer|__dirname|setImmediate)\b\s*[.(]/)
    }
  })

  it('the entry only re-exports', () => {
    const code = readFileSync(entry, 'utf8')
      .replace(/^\/\/.*$/gm, '')
      .replace(/export (?:type )?(?:\*|\{[^}]*\}) from '[^']+'\n?/g, '')
    expect(code.trim()).toBe('')
  })
})

describe('a bundle for the browser', () => {
  async function bundle(): Promise<string> {
    const made = await build({
      configFile: false,
      root,
      logLevel: 'silent',
      resolve: { alias: inBrowser },
      build: {
        write: false,
        minify: false,
        target: 'es2022',
        lib: { entry, formats: ['iife'], name: 'urlsieve' },
      },
    })
    const [{ output }] = made as unknown as [{ output: { code: string }[] }]
    expect(output).toHaveLength(1)
    return output[0]!.code
  }

  it('runs with WebAssembly, URL, text encoding, crypto, atob and performance, and nothing else', async () => {
    const code = await bundle()
    expect(code).not.toMatch(/['"]node:|\brequire\(/)
    const { URL, TextEncoder, TextDecoder, crypto, atob, performance } = globalThis
    const context = createContext({ URL, TextEncoder, TextDecoder, crypto, atob, performance })
    expect(new Script('typeof process + typeof require + typeof Buffer').runInContext(context)).toBe(
      'undefined'.repeat(3),
    )
    new Script(code).runInContext(context)
    const answers = new Script(`(async () => {
      const { Sieve, SieveError, filterNames } = urlsieve
      const sieve = await Sieve.create()
      const verdicts = [
        sieve.add('https://Example.com:443/a/../b#top'),
        sieve.add('http://example.com/b'),
        sieve.has('http://example.com/c'),
        sieve.add('https://b\\u00fccher.example/'),
        sieve.add('https://xn--bcher-kva.example/'),
        sieve.delete('https://example.com/b'),
        sieve.add('https://example.com/b'),
      ]
      const many = [...sieve.addMany(['https://a.example/', 'https://a.example/#x', 'https://c.example/'])]
      const lines = [...sieve.addLines(new TextEncoder().encode('https://d.example/\\nhttps://a.example'))]
      const blocked = await Sieve.create({ filter: 'blocked', expectedUrls: 1000, falsePositiveRate: 0.001 })
      const each = []
      for (const filter of filterNames) {
        const made = await Sieve.create({ filter, expectedUrls: 1000 })
        each.push(made.add('https://a.example/x') && !made.add('https://a.example/x') && !made.has('https://b.example/y'))
      }
      const noDisk = await Sieve.open('folder').catch((error) => error instanceof SieveError && error.message)
      const bad = await Sieve.create({ filter: 'bloom' }).catch((error) => error instanceof SieveError)
      return { verdicts, many, lines, urls: sieve.stats().urls, blocked: blocked.add('https://a.example/'), each, noDisk, bad }
    })()`).runInContext(context) as Promise<unknown>
    // Back from another realm by way of JSON.
    expect(JSON.parse(JSON.stringify(await answers))).toEqual({
      verdicts: [true, false, false, true, false, true, true],
      many: [1, 0, 1],
      lines: [1, 0],
      urls: 5,
      blocked: true,
      each: library.filterNames.map(() => true),
      noDisk: 'there is no disk in a browser: use Sieve.create',
      bad: true,
    })
  })
})

describe('the first example', () => {
  it('answers as the README says', async () => {
    const sieve = await Sieve.create({ filter: 'fingerprint', profile: 'web' })
    expect(sieve.add('https://Example.com:443/a/../b#top')).toBe(true)
    expect(sieve.add('http://example.com/b')).toBe(false)
    expect(sieve.has('http://example.com/c')).toBe(false)
    expect([
      ...sieve.addMany(['https://example.com/d', 'http://example.com:80/d', 'https://example.com/b']),
    ]).toEqual([1, 0, 0])
    expect([
      ...sieve.addLines(new TextEncoder().encode('https://example.com/e\nhttps://example.com/e#f\n')),
    ]).toEqual([1, 0])
    const { key, isUrl, verdict, steps } = sieve.explain('HTTP://EXAMPLE.com/b')
    expect({ key, isUrl, verdict }).toEqual({ key: 'https://example.com/b', isUrl: true, verdict: 'seen' })
    expect(steps.map(({ rule }) => rule)).toEqual(['whatwg', 'no-fragment', 'https', 'escapes'])
    expect(sieve.stats()).toMatchObject({
      filter: 'fingerprint',
      profile: 'web',
      urls: 3,
      seen: 4,
      invalid: 0,
    })
  })

  it('a sieve of one’s own key answers the same way twice, one without does not share its hashes', async () => {
    const key = new Uint8Array(16).fill(8)
    const size = { filter: 'classic', bits: 64, hashes: 1, profile: 'raw' } as const
    const fill = async (options: object) => {
      const sieve = await Sieve.create({ ...size, ...options })
      return [...sieve.addMany(Array.from({ length: 200 }, (_, i) => `${i}`))].join('')
    }
    expect(await fill({ key })).toBe(await fill({ key }))
    // 64 bits, 200 URLs: two random keys agree on all verdicts with a chance that no one will live to see.
    expect(await fill({})).not.toBe(await fill({}))
  })
})

describe('items in one buffer', () => {
  it('get the verdicts that the same strings get, whatever bytes they hold, over many batches', async () => {
    const one = await Sieve.create({ profile: 'raw' })
    const other = await Sieve.create({ profile: 'raw' })
    const urls = Array.from({ length: 5000 }, (_, i) => `${'x\n\0é'.repeat(i % 40)}${i % 3000}`)
    urls[7] = ''
    const parts = urls.map((url) => new TextEncoder().encode(`$${url}\r\n`))
    const starts = new Uint32Array(urls.length)
    const ends = new Uint32Array(urls.length)
    let at = 0
    parts.forEach((part, i) => {
      starts[i] = at + 1
      ends[i] = at + part.length - 2
      at += part.length
    })
    const bytes = new Uint8Array(Buffer.concat(parts))
    expect(one.addItems({ bytes, starts, ends })).toEqual(other.addMany(urls))
    expect(one.hasItems({ bytes, starts, ends })).toEqual(new Uint8Array(urls.length).fill(1))
    expect(one.stats().urls).toBe(new Set(urls).size)
  })
})

it('a string gets the same key in a list as alone, also with half a surrogate pair', async () => {
  const urls = ['http://a/é', '\ud800a', 'a\udc00', '😀', '\ud83d\ud83d', 'x'.repeat(300_000)]
  const together = await Sieve.create({ profile: 'raw' })
  const alone = await Sieve.create({ profile: 'raw' })
  together.addMany(urls)
  for (const url of urls) {
    expect(together.has(url)).toBe(true)
    alone.add(url)
  }
  expect(alone.hasMany(urls)).toEqual(new Uint8Array(urls.length).fill(1))
})
