// Lines through runs on disk: the output is byte for byte that of a sieve in memory, for files, streams and both, in any cuts.
import {
  appendFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { resolveProfile } from '../../src/canonical/profiles.ts'
import { DiskFeed, type DiskFeedOptions } from '../../src/disk/disk-feed.ts'
import { TempFiles } from '../../src/disk/temp-files.ts'
import { chooseHash } from '../../src/hashes.ts'
import { Sieve } from '../../src/index.ts'
import { compileKernel, Kernel } from '../../src/kernel.ts'
import { Keyer } from '../../src/keyer/keyer.ts'
import { newFolders } from '../support/folders.ts'
import { randomFrom } from '../support/random.mjs'

const newFolder = newFolders()

interface Input {
  readonly text: string
  /** Read again from a file, or passed once. */
  readonly isFile: boolean
}

async function openFeed(
  options: Partial<DiskFeedOptions>,
  profile = 'web',
): Promise<{ feed: DiskFeed; temp: string }> {
  const keyer = new Keyer(
    Kernel.create(await compileKernel()),
    resolveProfile(profile as 'web'),
    chooseHash('siphash', new Uint8Array(16)),
  )
  const temp = newFolder()
  const files = new TempFiles(temp)
  const feed = new DiskFeed(keyer, files, { keep: 'new', as: 'line', capacity: 2000, ...options })
  return { feed, temp }
}

async function pushAll(
  feed: DiskFeed,
  bytes: Uint8Array,
  random: () => number,
  write: (kept: Uint8Array) => void,
): Promise<void> {
  for (let at = 0; at < bytes.length; ) {
    const cut = random() < 0.1 ? 1 : 1 + Math.floor(random() * 4000)
    const chunk = bytes.subarray(at, at + cut)
    feed.reserve(chunk.length).set(chunk)
    await feed.push(chunk.length, write)
    at += chunk.length
  }
  await feed.end(write)
}

async function sifted(inputs: readonly Input[], options: Partial<DiskFeedOptions>, seed: number) {
  const { feed, temp } = await openFeed(options)
  const random = randomFrom(seed)
  const out: Buffer[] = []
  const write = (kept: Uint8Array) => void out.push(Buffer.from(kept))
  for (const [i, { text, isFile }] of inputs.entries()) {
    const path = join(temp, `input-${i}`)
    if (isFile) writeFileSync(path, text)
    feed.begin(isFile ? path : null)
    await pushAll(feed, Buffer.from(text), random, write)
  }
  await feed.finish(write)
  const { lines, new: fresh, seen, invalid } = feed
  const runs = feed.runs.runs.length
  feed.close()
  expect(readdirSync(temp).filter((name) => name.startsWith('urlsieve'))).toEqual([])
  return { out: Buffer.concat(out).toString(), lines, fresh, seen, invalid, runs }
}

async function expectedOf(inputs: readonly Input[], { keep = 'new', as = 'line' }: Partial<DiskFeedOptions>) {
  const sieve = await Sieve.create()
  const feed = sieve.feed({ keep, as })
  const out: Buffer[] = []
  for (const { text } of inputs) {
    const bytes = Buffer.from(text)
    feed.reserve(bytes.length).set(bytes)
    out.push(Buffer.from(feed.push(bytes.length)), Buffer.from(feed.end()))
  }
  const { urls, seen, invalid } = sieve.stats()
  return { out: Buffer.concat(out).toString(), lines: feed.lines, fresh: urls, seen, invalid }
}

/** Repeats near and far, fragments that make no difference, lines that are not URLs, no newline at the end. */
function textOf(lines: number, pool: number, seed: number): string {
  const random = randomFrom(seed)
  const all: string[] = []
  for (let i = 0; i < lines; i++) {
    const n = random() < 0.3 ? i : Math.floor(random() * pool)
    const fragment = random() < 0.1 ? `#${n % 5}` : ''
    all.push(random() < 0.05 ? `not a URL ${n}` : `https://host${n % 13}.example/page/${n}${fragment}`)
  }
  return `${all.join('\n')}${seed % 2 ? '\n' : ''}`
}

describe('lines through runs on disk', () => {
  const sets: Readonly<Record<string, readonly Input[]>> = {
    'a stream': [{ text: textOf(20_000, 9000, 1), isFile: false }],
    'a file': [{ text: textOf(20_000, 9000, 2), isFile: true }],
    'files and streams': [
      { text: textOf(3000, 9000, 3), isFile: true },
      { text: textOf(5000, 9000, 4), isFile: false },
      { text: '', isFile: true },
      { text: 'https://a.example/', isFile: false },
      { text: textOf(9000, 9000, 5), isFile: true },
      { text: textOf(3000, 9000, 6), isFile: false },
    ],
    'what fits into memory': [{ text: textOf(600, 9000, 8), isFile: false }],
    'many runs, merged': [{ text: textOf(60_000, 90_000, 9), isFile: false }],
  }
  for (const keep of ['new', 'seen'] as const) {
    for (const as of ['line', 'key'] as const) {
      it.for(Object.entries(sets))(`%s: ${keep}, as ${as}`, async ([name, inputs]) => {
        const options = { keep, as }
        const { runs, ...got } = await sifted(inputs, options, name.length)
        expect(got).toEqual(await expectedOf(inputs, options))
        expect(runs > 0).toBe(name !== 'what fits into memory')
      })
    }
  }

  it('batches of hundreds of thousands of lines, of a stream and of a file', async () => {
    const inputs = [
      { text: textOf(150_000, 1e6, 11), isFile: false },
      { text: textOf(150_000, 200_000, 12), isFile: true },
    ]
    const { runs, ...got } = await sifted(inputs, { capacity: 100_000 }, 5)
    expect(got).toEqual(await expectedOf(inputs, {}))
    expect(runs).toBeGreaterThan(2)
  })

  it('an input that changes while it waits is an error; one that grows is not', async () => {
    const changes: Readonly<Record<string, [(path: string) => void, boolean]>> = {
      'a byte differs': [
        (path) => {
          const bytes = readFileSync(path)
          bytes[bytes.length - 1000]! ^= 1
          writeFileSync(path, bytes)
        },
        true,
      ],
      'it is cut': [(path) => truncateSync(path, 20_000), true],
      'another file has its name': [
        (path) => {
          writeFileSync(`${path}.new`, readFileSync(path))
          renameSync(`${path}.new`, path)
        },
        true,
      ],
      'it is gone': [(path) => unlinkSync(path), true],
      'it grows': [(path) => appendFileSync(path, 'https://later.example/\n'), false],
    }
    for (const [name, [change, isError]] of Object.entries(changes)) {
      const { feed, temp } = await openFeed({ capacity: 4000 })
      const path = join(temp, 'input')
      const text = textOf(5000, 1e9, 10)
      writeFileSync(path, text)
      feed.begin(path)
      const out: Buffer[] = []
      const write = (kept: Uint8Array) => void out.push(Buffer.from(kept))
      const run = async () => {
        await pushAll(feed, Buffer.from(text), randomFrom(3), write)
        change(path)
        await feed.finish(write)
      }
      if (isError) await expect(run(), name).rejects.toThrow('has changed while it was read')
      else {
        await run()
        const expected = await expectedOf([{ text, isFile: true }], {})
        expect(Buffer.concat(out).toString()).toBe(expected.out)
      }
      feed.close()
    }
  })

  it('any number of files wait, none of them open', async () => {
    const { feed, temp } = await openFeed({ capacity: 4000 })
    const out: Buffer[] = []
    const write = (kept: Uint8Array) => void out.push(Buffer.from(kept))
    const text = textOf(9000, 1e9, 12)
    const lines = text.split('\n')
    const descriptors = () => (existsSync('/proc/self/fd') ? readdirSync('/proc/self/fd').length : 0)
    let most = 0
    for (let i = 0; i < 90; i++) {
      const path = join(temp, `input-${i}`)
      const part = `${lines.slice(i * 100, i * 100 + 100).join('\n')}\n`
      writeFileSync(path, part)
      feed.begin(path)
      await pushAll(feed, Buffer.from(part), randomFrom(i), write)
      if (i === 0) most = descriptors() + 12
    }
    expect(descriptors()).toBeLessThan(most)
    await feed.finish(write)
    expect(descriptors()).toBeLessThan(most)
    expect(Buffer.concat(out).toString()).toBe((await expectedOf([{ text, isFile: true }], {})).out)
    feed.close()
  })

  it('a line is as long as stated, or one error', async () => {
    const { feed } = await openFeed({ capacity: 4000, mostLineBytes: 10_000 })
    const out: Buffer[] = []
    const write = (kept: Uint8Array) => void out.push(Buffer.from(kept))
    const long = `https://a.example/${'x'.repeat(9900)}\n`
    feed.begin(null)
    await pushAll(feed, Buffer.from(`${long}https://b.example/\n${long}`), randomFrom(1), write)
    expect(Buffer.concat(out).toString()).toBe(`${long}https://b.example/\n`)
    const longer = Buffer.from('x'.repeat(10_001))
    await expect(pushAll(feed, longer, randomFrom(2), write)).rejects.toThrow(/a line of more than 9\.8 KiB/)
    feed.close()
  })

  it('a folder for temporary files that is missing is one clear error', async () => {
    const { feed } = await openFeed({})
    const gone = new TempFiles(join(newFolder(), 'gone'))
    expect(() => gone.create()).toThrow(/^cannot write temporary files to .*gone: no such folder$/)
    feed.close()
  })
})
