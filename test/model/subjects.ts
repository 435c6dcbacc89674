// What a model test runs: each kind of sieve behind the same verbs, with what only some of them have left out.
import { rmSync } from 'node:fs'
import { basename } from 'node:path'
import { expect } from 'vitest'
import { SieveError } from '../../src/errors.ts'
import { type ExactOptions, ExactSieve } from '../../src/exact/index.ts'
import type { StoreOptions } from '../../src/journal.ts'
import { RedisSieve, type RedisSieveOptions } from '../../src/redis/index.ts'
import { type DeletingSieve, type Items, Sieve, type SieveOptions } from '../../src/sieve.ts'
import { readSieve } from '../../src/store/snapshot.ts'
import { storedKeys } from '../../src/store/stored-keys.ts'
import { copyFolder } from '../store/copy.ts'

type Answer = Uint8Array | Promise<Uint8Array>

export interface Subject {
  /** 1 new and 0 seen, for adds; 1 seen and 0 not, for questions. */
  addMany(urls: readonly string[]): Answer
  hasMany(urls: readonly string[]): Answer
  add(url: string): boolean | Promise<boolean>
  has(url: string): boolean | Promise<boolean>
  addLines(bytes: Uint8Array): Answer
  hasLines?(bytes: Uint8Array): Answer
  addItems?(items: Items): Answer
  hasItems?(items: Items): Answer
  delete?(url: string): boolean | Promise<boolean>
  explain?(url: string): { readonly verdict: string } | Promise<{ readonly verdict: string }>
  /** The new lines. */
  feed?(bytes: Uint8Array): Uint8Array
  clear(): void | Promise<void>
  /** Takes in a sieve of the same kind with these URLs. */
  merge?(urls: readonly string[]): Promise<void>
  /** Closes it and opens it again. */
  reopen?(): Promise<void>
  /** Opens what kill -9 would have left at this moment. */
  crash?(): Promise<void>
  /** Writes a file and goes on with what is read from it. */
  saveLoad?(): Promise<void>
  /** Begins to fold its log; `crash` may come before that has ended. */
  fold?(): Promise<void>
  counts(): Counts | Promise<Counts>
  /** The keys it has, where it keeps them. */
  keys?(): Promise<string[]>
  /** A call that must be refused. */
  refuse(number: number): Promise<void>
  close(): Promise<void>
}

export interface Counts {
  readonly urls: number
  readonly seen: number
  readonly invalid: number
}

/** Does not fit into an instance of these bytes. */
export const INSTANCE_BYTES = 3 * 2 ** 20
const LONG = `https://example.com/${'x/'.repeat(2 ** 21)}`
/** For a sieve whose instances have their usual size. */
const LONGEST = `https://example.com/${'x'.repeat(400_000_000)}`

const withHole = ['https://refused.example/1', '', 'https://refused.example/2']
delete withHole[1]
const refusedLists: unknown[] = [
  ['https://refused.example/1', 5],
  [['https://refused.example/1']],
  withHole,
  'https://refused.example/',
  null,
  [...Array.from({ length: 2500 }, (_, i) => `https://refused.example/${i}`), undefined],
]
const bytes = new TextEncoder().encode('https://refused.example/1')
const u32 = (...numbers: number[]) => Uint32Array.from(numbers)
const refusedItems: unknown[] = [
  { bytes, starts: u32(0), ends: u32(bytes.length + 1) },
  { bytes, starts: u32(5, 0), ends: u32(9, 4) },
  { bytes, starts: u32(0, 3), ends: u32(5) },
  { bytes, starts: [0], ends: [3] },
  { bytes: 'text', starts: u32(0), ends: u32(4) },
]

async function expectRefused(call: () => unknown): Promise<void> {
  let result: unknown
  try {
    result = await call()
  } catch (error) {
    expect(error).toBeInstanceOf(SieveError)
    expect((error as SieveError).message).toMatch(/^[^\n]+$/)
    expect((error as SieveError).answered?.length ?? 0).toBe(0)
    return
  }
  expect.fail(`expected a refusal, got ${String(result)}`)
}

type Verbs = Pick<Subject, 'add' | 'has' | 'addMany' | 'hasMany' | 'addLines' | 'addItems' | 'delete'>

// `long`: a URL that does not fit, where there can be one.
function refusal(sieve: Verbs, long: string | null, number: number): Promise<void> {
  const list = refusedLists[number % refusedLists.length] as string[]
  const calls: (() => unknown)[] = [
    () => sieve.addMany(list),
    () => sieve.hasMany(list),
    () => sieve.add([list] as never),
    () => sieve.has(undefined as never),
    () => sieve.addLines('https://refused.example/\n' as never),
  ]
  if (long !== null) {
    calls.push(
      () => sieve.add(long),
      () => sieve.has(long),
      () => sieve.addMany([long, 'https://refused.example/1', 'no url at all']),
      () => sieve.hasMany([long]),
    )
    if (sieve.delete) calls.push(() => sieve.delete!(long))
  }
  if (sieve.delete) calls.push(() => sieve.delete!(5 as never))
  if (sieve.addItems) {
    const items = refusedItems[number % refusedItems.length] as Items
    calls.push(() => sieve.addItems!(items))
  }
  return expectRefused(calls[Math.floor(number / refusedLists.length) % calls.length]!)
}

/** The verbs of every kind of sieve, of the one that is open now. */
function verbsOf(current: () => Sieve | ExactSieve | RedisSieve) {
  return {
    addMany: (urls: readonly string[]) => current().addMany(urls),
    hasMany: (urls: readonly string[]) => current().hasMany(urls),
    add: (url: string) => current().add(url),
    has: (url: string) => current().has(url),
    addLines: (bytes: Uint8Array) => current().addLines(bytes),
  }
}

/** The folder as it is on disk now, without the files of a running process. */
function killed(from: string, to: string): string {
  copyFolder(from, to, (path) => !/^(lock|LOCK)/.test(basename(path)))
  return to
}

export interface SievePlace {
  readonly options: SieveOptions
  /** Absent: in memory. */
  readonly store?: StoreOptions
  newFolder(): string
}

export async function sieveSubject({ options, store, newFolder }: SievePlace): Promise<Subject> {
  let folder = newFolder()
  const sized = { instanceBytes: INSTANCE_BYTES }
  const open = (path: string, first = false) =>
    Sieve.open(path, { ...(first ? options : {}), ...sized, ...store }) as Promise<Sieve>
  let sieve: Sieve = store ? await open(folder, true) : await Sieve.create({ ...options, ...sized })
  let folding: Promise<void> | null = null
  const settled = async () => {
    await folding
    folding = null
  }
  const canDelete = 'delete' in sieve
  const canMerge = !['scalable', 'window'].includes(sieve.plan.filter) && !store?.keepKeys
  return {
    ...verbsOf(() => sieve),
    hasLines: (bytes) => sieve.hasLines(bytes),
    addItems: (items) => sieve.addItems(items),
    hasItems: (items) => sieve.hasItems(items),
    explain: (url) => sieve.explain(url),
    feed(bytes) {
      const feed = sieve.feed({ keep: 'new' })
      const half = Math.floor(bytes.length / 2)
      const kept: Uint8Array[] = []
      for (const part of [bytes.subarray(0, half), bytes.subarray(half)]) {
        feed.reserve(part.length).set(part)
        kept.push(feed.push(part.length).slice())
      }
      kept.push(feed.end().slice())
      return Buffer.concat(kept)
    },
    ...(canDelete && { delete: (url: string) => (sieve as DeletingSieve).delete(url) }),
    clear: () => sieve.clear(),
    ...(canMerge && {
      async merge(urls: readonly string[]) {
        const other = await Sieve.create({ ...options, ...sized })
        other.addMany(urls)
        await settled()
        await sieve.merge(other)
      },
    }),
    async saveLoad() {
      const path = newFolder()
      await sieve.save(path)
      const { sieve: read } = await readSieve(path, sized)
      if (!store) sieve = read
      else expect(read.stats()).toMatchObject(countsOf(sieve))
    },
    ...(store && {
      async reopen() {
        await settled()
        await sieve.close()
        sieve = await open(folder)
      },
      async crash() {
        const copy = killed(folder, newFolder())
        await settled()
        await sieve.close()
        rmSync(folder, { recursive: true })
        folder = copy
        sieve = await open(folder)
      },
      async fold() {
        await settled()
        folding = sieve.save()
      },
    }),
    ...(store?.keepKeys && {
      async keys() {
        await settled()
        return [...storedKeys(folder)].map((key) => key.toString())
      },
    }),
    counts: () => countsOf(sieve),
    refuse: (number) => refusal(sieve as never, LONG, number),
    async close() {
      await settled()
      await sieve.close()
    },
  }
}

function countsOf(sieve: Sieve): Counts {
  const { urls, seen, invalid } = sieve.stats()
  return { urls, seen, invalid }
}

export async function exactSubject(options: ExactOptions, newFolder: () => string): Promise<Subject> {
  let folder = newFolder()
  let sieve = await ExactSieve.open(folder, options)
  return {
    ...verbsOf(() => sieve),
    delete: (url) => sieve.delete(url),
    clear: () => sieve.clear(),
    async reopen() {
      await sieve.close()
      sieve = await ExactSieve.open(folder, options)
    },
    async crash() {
      const copy = killed(folder, newFolder())
      await sieve.close()
      rmSync(folder, { recursive: true })
      folder = copy
      sieve = await ExactSieve.open(folder, options)
    },
    async keys() {
      const keys: string[] = []
      for await (const key of sieve.keys()) keys.push(key)
      return keys
    },
    async counts() {
      await sieve.filled()
      const { urls, seen, invalid } = sieve.stats()
      return { urls: urls!, seen, invalid }
    },
    // A filter of a fixed size leaves an instance room for the longest string there is.
    refuse: (number) => refusal(sieve, options.filterBytes ? null : LONGEST, number),
    close: () => sieve.close(),
  }
}

export async function redisSubject(options: RedisSieveOptions): Promise<Subject> {
  let sieve = await RedisSieve.open(options)
  return {
    ...verbsOf(() => sieve),
    addItems: (items) => sieve.addItems(items),
    hasItems: (items) => sieve.hasItems(items),
    delete: (url) => sieve.delete(url),
    explain: (url) => sieve.explain(url),
    clear: () => sieve.clear(),
    async reopen() {
      await sieve.close()
      sieve = await RedisSieve.open(options)
    },
    async counts() {
      const { urls, seen, invalid } = await sieve.stats()
      return { urls, seen, invalid }
    },
    refuse: (number) => refusal(sieve, LONGEST, number),
    async close() {
      await sieve.drop()
    },
  }
}
