// A disk sieve under load, and `dedupe --state --max-memory`, are killed with SIGKILL at random moments. Of the sieve every
// acknowledged batch is there after each kill, and of the one in flight all or nothing. Of the command every line is printed by
// one run or another, and at most the lines of one write twice. 100 kills; URLSIEVE_FULL=1: 1,000.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs'
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
/** A table of about 100,000 hashes: it becomes a run after 25 batches. */
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

/** How many URLs of each batch the sieve has, in one call: a pass over its runs for all of them. */
async function held(sieve: DiskSieve, batches: readonly number[]): Promise<number[]> {
  const answers = await sieve.hasMany(batches.flatMap((batch) => batchOf(batch, BATCH_URLS)))
  return batches.map((_, i) =>
    answers.subarray(i * BATCH_URLS, (i + 1) * BATCH_URLS).reduce((sum, answer) => sum + answer, 0),
  )
}

describe.concurrent('killed with SIGKILL', () => {
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

  it('dedupe --state --max-memory', { timeout: 1_800_000 }, async () => {
    const random = randomFrom(815)
    const lines = Array.from({ length: 500_000 }, (_, i) => `https://example.com/${(i * 7919) % 450_000}`)
    const expected = new Set(lines)
    const input = join(newFolder(), 'input.txt')
    writeFileSync(input, `${lines.join('\n')}\n`)
    const { stderr } = await urlsieve(['dedupe', '--max-memory', '1M', input])
    const limit = `${Number(/at least (\d+)M/.exec(stderr)![1]) + 6}M`
    for (let kill = 0; kill < KILLS; kill += ROUND) {
      const folder = newFolder()
      const args = [
        'dedupe',
        '--profile',
        'raw',
        '--max-memory',
        limit,
        '--state',
        join(folder, 'seen'),
        input,
      ]
      const printed: string[] = []
      for (let i = 0; i <= ROUND; i++) {
        const path = join(folder, `out-${i}`)
        const fd = openSync(path, 'w')
        const child = spawn(process.execPath, [main, ...args], { stdio: ['ignore', fd, 'pipe'] })
        closeSync(fd)
        let errors = ''
        child.stderr!.on('data', (chunk: Buffer) => {
          errors += chunk
        })
        const timer = i < ROUND ? setTimeout(() => child.kill('SIGKILL'), 150 + 900 * random()) : undefined
        const [code] = await once(child, 'close')
        clearTimeout(timer)
        expect(errors).toBe('')
        if (i === ROUND) expect(code).toBe(0)
        // A last line that was cut was not delivered.
        for (const line of readFileSync(path, 'utf8').split('\n').slice(0, -1)) printed.push(line)
      }
      const delivered = new Set(printed)
      expect(delivered.size).toBe(expected.size)
      expect(printed.every((line) => expected.has(line))).toBe(true)
      // A write has at most the lines of 256 KiB of input.
      expect(printed.length - expected.size).toBeLessThanOrEqual((ROUND * 262_144) / 21)
      const again = await urlsieve(args)
      expect(again.stdout.length).toBe(0)
    }
  })
})
