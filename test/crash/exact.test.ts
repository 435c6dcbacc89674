// An exact sieve under load is killed with SIGKILL at random moments, again and again over the same folder. After each
// kill it opens, holds every acknowledged batch, of the one in flight all or nothing, and nothing else. After some kills it
// goes on in a new folder, so that each kill costs the same. 12 kills; URLSIEVE_FULL=1: 300.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { type ExactOptions, ExactSieve } from '../../src/exact/index.ts'
import { builtLibrary } from '../support/built.ts'
import { newFolders } from '../support/folders.ts'
import { randomFrom } from '../support/random.mjs'
import { batchOf } from './batches.mjs'

const newFolder = newFolders()

const KILLS = process.env.URLSIEVE_FULL === '1' ? 300 : 12
const BATCH_URLS = 40
const writer = fileURLToPath(new URL('exact-writer.mjs', import.meta.url))

const built = builtLibrary()

interface Run {
  readonly done: number[]
  readonly tried: number[]
  readonly deleted: number[]
  readonly deleting: number[]
  readonly errors: string
}

/** Starts a writer at batch `from` and kills it at a random moment; the last time when it has written. */
async function killed(
  folder: string,
  options: ExactOptions,
  from: number,
  isLast: boolean,
  random: () => number,
): Promise<Run> {
  const argument = JSON.stringify({ built, folder, options, from, batchUrls: BATCH_URLS })
  const child = spawn(process.execPath, [writer, argument], { stdio: ['ignore', 'pipe', 'pipe'] })
  let out = ''
  let errors = ''
  let timer: NodeJS.Timeout | undefined
  const killIn = (ms: number) => {
    timer ??= setTimeout(() => child.kill('SIGKILL'), ms)
  }
  if (!isLast && random() < 0.2) killIn(80 + 200 * random())
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk
    if (!isLast || out.includes('done')) killIn(300 * random() ** 2)
  })
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk
    killIn(1000)
  })
  await once(child, 'close')
  clearTimeout(timer)
  const numbers = (word: string) =>
    [...out.matchAll(new RegExp(`^${word} (\\d+)$`, 'gm'))].map((match) => Number(match[1]))
  return {
    done: numbers('done'),
    tried: numbers('try'),
    deleted: numbers('deleted'),
    deleting: numbers('deleting'),
    errors,
  }
}

/** Kills of one folder. */
const ROUND = 25

interface Setting extends ExactOptions {
  readonly kills: number
}

const settings: readonly Setting[] = [
  { durability: 'interval', kills: Math.ceil(KILLS / 2) },
  { durability: 'always', kills: Math.ceil(KILLS / 4) },
  { durability: 'interval', kills: Math.ceil(KILLS / 4), cacheEntries: 10, filterBytes: 4096 },
]

describe('an exact sieve killed with SIGKILL', () => {
  it.for(settings)(
    '$kills times, durability $durability, filterBytes $filterBytes',
    { timeout: 1_800_000 },
    async (setting, { task }) => {
      const { kills, ...options } = setting
      const random = randomFrom(task.name.length * 7919)
      let acknowledged = 0
      for (let kill = 0; kill < kills; kill += ROUND) {
        acknowledged += await killAndCheck(options, Math.min(ROUND, kills - kill), random)
      }
      console.log(`exact ${setting.durability}: ${kills} kills, ${acknowledged} batches acknowledged, 0 lost`)
      expect(acknowledged).toBeGreaterThan(0)
    },
  )
})

/** Kills over one folder; returns how many batches were acknowledged, all of which were found. */
async function killAndCheck(options: ExactOptions, kills: number, random: () => number): Promise<number> {
  const folder = newFolder()
  /** What must be there; a URL in flight is settled by what the next opening says. */
  const truth = new Set<string>()
  let from = 1
  let acknowledged = 0
  for (let kill = 0; kill < kills; kill++) {
    const { done, tried, deleted, deleting, errors } = await killed(
      folder,
      options,
      from,
      kill === kills - 1,
      random,
    )
    expect(errors, `kill ${kill}`).toBe('')
    for (const batch of done) for (const url of batchOf(batch, BATCH_URLS)) truth.add(url)
    for (const batch of deleted) truth.delete(batchOf(batch, BATCH_URLS)[0]!)
    acknowledged += done.length
    const sieve = await ExactSieve.open(folder, { ...options, profile: 'web' })
    const inFlight = tried.at(-1) === done.at(-1) ? undefined : tried.at(-1)
    if (inFlight !== undefined) {
      const urls = batchOf(inFlight, BATCH_URLS)
      const held = await sieve.hasMany(urls)
      const count = held.reduce((sum, answer) => sum + answer, 0)
      if (inFlight % 4 !== 0) expect([0, BATCH_URLS], `kill ${kill}`).toContain(count)
      for (const [i, url] of urls.entries()) if (held[i]) truth.add(url)
    }
    if (deleting.at(-1) !== deleted.at(-1)) {
      const [url] = batchOf(deleting.at(-1)!, BATCH_URLS)
      if (!(await sieve.has(url!))) truth.delete(url!)
    }
    const known = [...truth]
    const answers = await sieve.hasMany(known)
    expect(
      known.filter((_, i) => answers[i] === 0),
      `lost after kill ${kill}`,
    ).toEqual([])
    const keys: string[] = []
    for await (const key of sieve.keys()) keys.push(key)
    expect(keys.sort(), `after kill ${kill}`).toEqual(known.sort())
    await sieve.filled()
    expect(sieve.stats().urls).toBe(truth.size)
    from = (tried.at(-1) ?? from - 1) + 1
    expect((await sieve.hasMany(batchOf(from, BATCH_URLS))).includes(1)).toBe(false)
    await sieve.close()
  }
  return acknowledged
}
