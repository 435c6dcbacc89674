// docs/library.md is the reference: every exported name has an entry, and every example runs and returns what its comments
// state.
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { RequestQueue } from '@crawlee/core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { spawnRedis } from '../bench/redis-process.mjs'
import * as crawlee from '../src/crawlers/crawlee.ts'
import * as disk from '../src/disk/index.ts'
import * as exact from '../src/exact/index.ts'
import * as library from '../src/index.ts'
import * as redis from '../src/redis/index.ts'
import * as shapes from '../src/shapes/index.ts'
import { root, spawned } from './e2e/command.ts'

const text = readFileSync(join(root, 'docs/library.md'), 'utf8')
const entries = {
  urlsieve: 'src/index.ts',
  'urlsieve/exact': 'src/exact/index.ts',
  'urlsieve/disk': 'src/disk/index.ts',
  'urlsieve/redis': 'src/redis/index.ts',
  'urlsieve/crawlee': 'src/crawlers/crawlee.ts',
  'urlsieve/shapes': 'src/shapes/index.ts',
  'urlsieve/learn': 'src/learn/index.ts',
}

/** The part of the page about an entry. */
const chapter = (entry: string) => text.split(/^## /m).find((part) => part.startsWith(`\`${entry}\`\n`)) ?? ''

/** Every name a module exports, types too. */
function exportsOf(path: string): string[] {
  const code = readFileSync(join(root, path), 'utf8')
  const lists = [...code.matchAll(/^export (?:type )?\{([^}]*)\}/gm)].flatMap(([, names]) =>
    names!.split(','),
  )
  const declared = [
    ...code.matchAll(/^export (?:abstract )?(?:class|interface|type|const|function|async function) (\w+)/gm),
  ]
  const names = lists.map((name) =>
    name
      .trim()
      .replace(/^type /, '')
      .replace(/^.* as /, ''),
  )
  return [...names, ...declared.map(([, name]) => name!)].filter(Boolean)
}

describe.each(Object.entries(entries))('%s', (entry, path) => {
  const headings = [...chapter(entry).matchAll(/^#+ `([\w/]+)`|^\| `(\w+)`/gm)].map(([, a, b]) => a ?? b)

  it('every exported name has an entry', () => {
    const names = exportsOf(path)
    expect(names.length).toBeGreaterThan(4)
    expect(names.filter((name) => !headings.includes(name))).toEqual([])
  })
})

/** Methods that only classes derived from Sieve call. */
const PROTECTED = ['forget', 'findUnder']

it.each([
  ['urlsieve', library.Sieve],
  ['urlsieve', library.ContentSieve],
  ['urlsieve/exact', exact.ExactSieve],
  ['urlsieve/disk', disk.DiskSieve],
  ['urlsieve/redis', redis.RedisSieve],
  ['urlsieve/redis', redis.RedisFrontier],
  ['urlsieve/crawlee', crawlee.SieveQueueBackend],
  ['urlsieve/shapes', shapes.Shapes],
  ['urlsieve/shapes', shapes.ShapeLimits],
  ['urlsieve/shapes', shapes.LimitedSieve],
])('every method of a class of %s is named', (entry, Class) => {
  const methods = Object.getOwnPropertyNames(Class.prototype).filter(
    (name) => name !== 'constructor' && !PROTECTED.includes(name),
  )
  const words = new Set(chapter(entry).match(/\w+/g))
  const shared = entry === 'urlsieve' ? [] : Object.getOwnPropertyNames(library.Sieve.prototype)
  expect(methods.filter((name) => !words.has(name) && !shared.includes(name))).toEqual([])
})

it('every method of a SieveQueue that is not Crawlee’s is named', async () => {
  const queue = await crawlee.SieveQueue.open()
  const methods = Object.getOwnPropertyNames(Object.getPrototypeOf(queue)).filter(
    (name) => !(name in RequestQueue.prototype),
  )
  expect(methods.sort()).toEqual(['close', 'keepDelay', 'redirected', 'stats'])
  const words = new Set(chapter('urlsieve/crawlee').match(/\w+/g))
  expect(methods.filter((name) => !words.has(name))).toEqual([])
  await queue.close()
})

/** A fence with a check for every line that ends in a comment with a value. */
function checked(fence: string): string {
  const value =
    /^(\s*)(?:const (\w+) = )?(.+?) \/\/ (true|false|null|-?[\d.e-]+|'[^']*'|\[[\d, ]*\])(?:[,:] .*)?$/
  const lines = fence.split('\n').map((line) => {
    const found = value.exec(line)
    if (!found) return line
    const [, space, name, expression, expected] = found
    if (name) return `${line}\n${space}__check(${name}, ${expected})`
    return `${space};__check(${expression!.replace(/^;/, '')}, ${expected})`
  })
  return [
    `import { deepEqual } from 'node:assert/strict'`,
    'let __checks = 0',
    'const __plain = (value) => (value instanceof Uint8Array ? [...value] : value)',
    'const __check = (got, expected) => void (deepEqual(__plain(got), expected), __checks++)',
    ...lines,
    'console.log(__checks)',
  ].join('\n')
}

describe('examples', () => {
  const folder = mkdtempSync(join(tmpdir(), 'urlsieve-reference-'))
  const fences = [...text.matchAll(/^```js\n([\s\S]*?)^```$/gm)].map(([, code]) => code!)
  const needsRedis = (code: string) => code.includes('connectRedis')
  const redisMissing = spawnSync('redis-server', ['--version']).status !== 0
  let redis: Awaited<ReturnType<typeof spawnRedis>> | undefined

  beforeAll(async () => {
    mkdirSync(join(folder, 'node_modules'))
    symlinkSync(root, join(folder, 'node_modules/urlsieve'))
    if (!redisMissing) redis = await spawnRedis([])
  })
  afterAll(() => {
    redis?.child.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  })

  it('there are some', () => {
    expect(fences.length).toBeGreaterThan(10)
  })

  fences.forEach((code, i) => {
    const title = `${i + 1}: ${code.split('\n', 1)[0]}`
    it.skipIf(needsRedis(code) && redisMissing)(title, async () => {
      const own = join(folder, `example-${i + 1}`)
      mkdirSync(own)
      const program = checked(code.replace('redis://127.0.0.1:6379', redis?.url ?? ''))
      writeFileSync(join(own, 'example.mjs'), program)
      const { code: status, stdout, stderr } = await spawned(process.execPath, ['example.mjs'], { cwd: own })
      expect(stderr).toBe('')
      expect(status).toBe(0)
      expect(Number(stdout.toString().trim().split('\n').at(-1))).toBeGreaterThan(0)
    })
  })
})
