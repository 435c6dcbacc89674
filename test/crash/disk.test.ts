// A disk sieve under load, and `dedupe --state --max-memory`, are killed with SIGKILL at random moments. Of the sieve every
// acknowledged batch is there after each kill, and of the one in flight all or nothing. Of the command every line is printed by
// one run or another, and at most the lines of one write twice. 100 kills; URLSIEVE_FULL=1: 1,000.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { DiskSieve } from '../../src/disk/index.ts'
import { main, urlsieve } from '../e2e/command.ts'
import { builtLibrary } from '../support/built.ts'
import { newFolders } from '../support/folders.ts'
import { randomFrom } from '../support/random.mjs'
import { batchOf } from './batches.mjs'

const newFolder = newFolders()
const KILLS = process.env.URLSIEVE_FULL === '1' ? 500 : 50
/** Kills of one folder. */
const ROUND = Math.min(10, KILLS)
const BATCH_URLS = 4000
const writer = fileURLToPath(new URL('disk-writer.mjs', import.meta.url))
/** A table of about 50,000 hashes: it becomes a run after 13 batches. */
const maxMemory = 25 * 1024 ** 2
const built = builtLibrary()

async function killWriter(folder: string, from: number, random: () => number) {
  const durability = random() < 0.3 ? 'always' : 'interval'
  const argument = JSON.stringify({
    ...{ built, folder, options: { profile: 'raw', maxMemory, durability } },
    ...{ from, batchUrls: BATCH_URLS },
  })
  const child = spawn(process.execPath, [writer, argument], { stdio: ['ignore', 'pipe', 'pipe'] })
  let out = ''
  let errors = ''
  let timer: NodeJS.Timeout | undefined
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk
    timer ??= setTimeout(() => child.kill('SIGKILL'), 400 * random() ** 2)
  })
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk
  })
  await once(child, 'close')
  clearTimeout(timer)
  const numbers = (word: string) =>
    [...out.matchAll(new RegExp(`^${word} (\\d+)$`, 'gm'))].map((match) => Number(match[1]))
  return { done: numbers('done'), tried: numbers('try'), errors }
}

/** The URLs of `batchOf` as lines, with a word in place of the batch: to put it in is faster than to make them all. */
const pattern = `${batchOf(Number.NaN, BATCH_URLS).join('\n')}\n`
const linesOf = (batch: number) => Buffer.from(pattern.replaceAll('NaN', String(batch)), 'latin1')

/** How many URLs of each batch the sieve has, in one call: a pass over its runs for all of them. */
async function held(sieve: DiskSieve, batches: readonly number[]): Promise<number[]> {
  const answers = await sieve.hasLines(Buffer.concat(batches.map(linesOf)))
  expect(answers.length).toBe(batches.length * BATCH_URLS)
  return batches.map((_, i) =>
    answers.subarray(i * BATCH_URLS, (i + 1) * BATCH_URLS).reduce((sum, answer) => sum + answer, 0),
  )
}

/** One URL of each batch is found in calls with few, which are answered by the filters of the runs. */
async function lookUp(sieve: DiskSieve, batches: readonly number[], random: () => number): Promise<void> {
  for (let at = 0; at < batches.length; at += 10) {
    const some = batches.slice(at, at + 10)
    const urls = some.map((batch) => batchOf(batch, 20)[Math.floor(20 * random())]!)
    expect(await sieve.hasMany(urls)).toEqual(new Uint8Array(some.length).fill(1))
  }
}

/** How long the command takes until its folder is open, and from then on to its end, when it is not killed. */
interface Times {
  startMs: number
  workMs: number
}

/**
 * Runs the command and kills it at `share` of the time that it takes to open its folder, or of the time that it works
 * afterwards. False when it ended before.
 */
async function killCommand(
  args: readonly string[],
  state: string,
  output: string,
  times: Times,
  isAtStart: boolean,
  share: number,
): Promise<boolean> {
  const names = () => (existsSync(state) ? readdirSync(state) : [])
  const before = new Set(names())
  const fd = openSync(output, 'w')
  const began = performance.now()
  const child = spawn(process.execPath, [main, ...args], { stdio: ['ignore', fd, 'pipe'] })
  closeSync(fd)
  let errors = ''
  child.stderr!.on('data', (chunk: Buffer) => {
    errors += chunk
  })
  let opened = 0
  const timer = setInterval(() => {
    const now = performance.now()
    // Each process has a lock of a name of its own.
    if (opened === 0 && names().some((name) => name.startsWith('lock-') && !before.has(name))) {
      opened = now
      times.startMs = now - began
    }
    const isDue = isAtStart
      ? now - began >= share * times.startMs
      : opened > 0 && now - opened >= share * times.workMs
    if (isDue) child.kill('SIGKILL')
  }, 1)
  const [code, signal] = await once(child, 'close')
  clearInterval(timer)
  expect(errors).toBe('')
  if (signal === 'SIGKILL') return true
  expect(code).toBe(0)
  expect(opened, 'its lock was seen').toBeGreaterThan(0)
  times.workMs = performance.now() - opened
  return false
}

describe('killed with SIGKILL', () => {
  it('a disk sieve', { timeout: 1_800_000 }, async () => {
    const random = randomFrom(4711)
    for (let kill = 0; kill < KILLS; kill += ROUND) {
      const folder = newFolder()
      const all: number[] = []
      let urls = 0
      let from = 1
      for (let i = 0; i < ROUND; i++) {
        const { done, tried, errors } = await killWriter(folder, from, random)
        expect(errors).toBe('')
        from = (tried.at(-1) ?? from - 1) + 1
        all.push(...done)
        urls += done.length * BATCH_URLS
        const sieve = await DiskSieve.open(folder, { maxMemory, readOnly: random() < 0.5 })
        const inFlight = tried.at(-1) === done.at(-1) ? [] : [tried.at(-1)!]
        const known = [...done.slice(-3), all[Math.floor(random() * all.length)]].filter(
          (batch) => batch !== undefined,
        )
        const found = await held(sieve, [...known, ...inFlight, from + 1])
        expect(found.pop()).toBe(0)
        for (const count of found.splice(known.length)) {
          expect([0, BATCH_URLS]).toContain(count)
          urls += count
        }
        expect(found).toEqual(known.map(() => BATCH_URLS))
        await lookUp(sieve, all.slice(-200), random)
        expect(sieve.stats().urls).toBe(urls)
        await sieve.close()
      }
      const sieve = await DiskSieve.open(folder, { maxMemory, readOnly: true })
      // In large calls: a pass over all runs for 50 batches.
      for (let at = 0; at < all.length; at += 50) {
        const some = all.slice(at, at + 50)
        expect(await held(sieve, some)).toEqual(some.map(() => BATCH_URLS))
      }
      await sieve.close()
    }
  })

  it('the lines of a batch are its URLs', () => {
    expect(linesOf(17).toString()).toBe(`${batchOf(17, BATCH_URLS).join('\n')}\n`)
  })

  it('dedupe --state --max-memory', { timeout: 1_800_000 }, async () => {
    const random = randomFrom(815)
    // In full more than fit into the table: each run writes several runs of hashes.
    const distinct = process.env.URLSIEVE_FULL === '1' ? 1_500_000 : 450_000
    const lines = distinct + 50_000
    const prefix = 'https://example.com/'
    const line = (_: unknown, i: number) => `${prefix}${(i * 7919) % distinct}\n`
    const [input, head] = [join(newFolder(), 'input.txt'), join(newFolder(), 'head.txt')]
    writeFileSync(input, Array.from({ length: lines }, line).join(''))
    writeFileSync(head, Array.from({ length: Math.floor(lines / 3) }, line).join(''))
    const { stderr } = await urlsieve(['dedupe', '--max-memory', '1M', '--state', newFolder(), input])
    const limit = `${Number(/at least (\d+)M/.exec(stderr)![1]) + 6}M`
    const times = { startMs: 200, workMs: 200 }
    for (let kill = 0; kill < KILLS; kill += ROUND) {
      const folder = newFolder()
      const state = join(folder, 'seen')
      const dedupe = ['dedupe', '--profile', 'raw', '--max-memory', limit, '--state', state]
      const args = [...dedupe, input]
      const printed = new Uint8Array(distinct)
      const take = (path: string) => {
        const bytes = readFileSync(path)
        rmSync(path)
        // A last line that was cut was not delivered.
        for (let at = 0, end = bytes.indexOf(10); end >= 0; at = end + 1, end = bytes.indexOf(10, at)) {
          const line = bytes.toString('latin1', at, end)
          const number = Number(line.slice(prefix.length))
          if (line !== `${prefix}${number}` || !(number < distinct))
            expect.fail(`${line} is not in the input`)
          printed[number]!++
        }
      }
      const output = join(folder, 'out')
      const complete = async (all: readonly string[], taken: Times) => {
        expect(await killCommand(all, state, output, taken, false, Number.POSITIVE_INFINITY)).toBe(false)
        take(output)
      }
      // Every second folder begins empty, with kills that come soon and then later: else one run prints all lines. The others
      // begin with a run of hashes, with which all that is killed compares, and kills at any time, also while one is written.
      const isEmpty = (kill / ROUND) % 2 === 0
      if (!isEmpty) await complete([...dedupe, head], { ...times })
      let runs = 0
      for (let kills = 0; kills < ROUND; runs++) {
        expect(runs, 'runs for the kills').toBeLessThan(10 * ROUND)
        const isAtStart = kills % 10 === 9 // before the folder is open
        const share = random() * (isAtStart || !isEmpty ? 1 : ((kills % 10) + 1) / 9)
        const isKilled = await killCommand(args, state, output, times, isAtStart, share)
        if (isKilled) kills++
        take(output)
      }
      await complete(args, times)
      expect(printed.includes(0), 'a line was not printed').toBe(false)
      // A write has at most the lines of 256 KiB of input.
      const twice = printed.reduce((sum, count) => sum + count - 1, 0)
      expect(twice).toBeLessThanOrEqual((ROUND * 262_144) / 21)
      const again = await urlsieve(args)
      expect(again.stdout.length).toBe(0)
    }
  })
})
