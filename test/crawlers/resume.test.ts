// Crawls that are killed and go on: every page is fetched, and twice only what was under way when the kill came.
// 80 pages and 2 kills; URLSIEVE_FULL=1: 5,000 and 8.
import { type ChildProcess, spawn } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { keyOf, profiles } from '../../src/canonical/profiles.ts'
import { main } from '../e2e/command.ts'
import { builtLibrary } from '../support/built.ts'
import { newFolders } from '../support/folders.ts'
import { randomFrom } from '../support/random.mjs'
import { pagesIn, unreached, webKey } from './crawled.ts'
import { crawlOnPaper, type Served, Site, serve } from './site.ts'

const newFolder = newFolders()

if (process.env.URLSIEVE_FULL) vi.setConfig({ testTimeout: 1_200_000 })

const isFull = Boolean(process.env.URLSIEVE_FULL)
const PAGES = isFull ? 5000 : 80
const KILLS = isFull ? 8 : 2
const CONCURRENCY = 8
const child = fileURLToPath(new URL('./crawlee-child.mjs', import.meta.url))
const crawleeKey = (url: string) => keyOf(profiles.crawlee, url) ?? url

const site = new Site(PAGES, 3)
let served: Served
const library = builtLibrary()
const running = new Set<ChildProcess>()
beforeAll(async () => {
  served = await serve(site)
})
afterEach(() => {
  for (const one of running) one.kill('SIGKILL')
})
afterAll(async () => {
  await served.close()
})

interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: Buffer
  readonly stderr: string
}

/** Runs a node script; sends it a signal when the server has had so many hits more. */
function run(args: string[], signal?: NodeJS.Signals, hits = Number.POSITIVE_INFINITY): Promise<Ended> {
  const process_ = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  running.add(process_)
  const until = served.hits.length + hits
  served.onHit = (count) => {
    if (count === until) process_.kill(signal)
  }
  const out: Buffer[] = []
  let stderr = ''
  process_.stdout.on('data', (chunk: Buffer) => out.push(chunk))
  process_.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk
  })
  return new Promise((resolve) => {
    process_.on('close', (code, ended) => {
      running.delete(process_)
      resolve({ code, signal: ended, stdout: Buffer.concat(out), stderr })
    })
  })
}

/** How often each page was asked for under its own URL: a redirect asks for its target too. */
function timesAsked(keyOfUrl: (url: string) => string): Map<string, number> {
  const times = new Map<string, number>()
  for (const hit of served.hits) {
    const key = keyOfUrl(served.origin + hit)
    times.set(key, (times.get(key) ?? 0) + 1)
  }
  return times
}

const targets = (paper: ReadonlyMap<string, number>) =>
  new Set(
    [...paper.keys()].flatMap((key) => {
      const number = /\/r\/(\d+)$/.exec(key)?.[1]
      return number === undefined ? [] : [`/rr/${number}`, `/p/${number}.html`]
    }),
  )

describe(`Crawlee with our queue, killed ${KILLS} times in a site of ${PAGES} pages`, () => {
  it('fetches every page; twice at most what was under way', async () => {
    const folder = newFolder()
    const random = randomFrom(11)
    const paper = crawlOnPaper(site, served.origin, crawleeKey)
    served.hits.length = 0
    const args = [child, library, served.origin, folder, 'sieve']
    for (let kill = 0; kill < KILLS; kill++) {
      const hits = 1 + Math.floor((random() * paper.size) / KILLS)
      expect(await run(args, 'SIGKILL', hits)).toMatchObject({ signal: 'SIGKILL' })
    }
    const last = await run(args)
    expect(last).toMatchObject({ code: 0, stderr: '' })
    const times = timesAsked(crawleeKey)
    expect([...paper.keys()].filter((key) => !times.has(key))).toEqual([])
    const redirected = targets(paper)
    const twice = [...times]
      .filter(([key]) => !redirected.has(new URL(key).pathname))
      .reduce((sum, [, count]) => sum + count - 1, 0)
    expect(twice).toBeLessThanOrEqual(KILLS * CONCURRENCY)
    // A sieve and a log: no file for each URL.
    expect(readdirSync(folder, { recursive: true }).length).toBeLessThan(12)
  })
})

describe('urlsieve crawl --state', () => {
  it('goes on after Ctrl-C and kill -9, with a growing depth of pages that are each printed', async () => {
    const folder = newFolder()
    const paper = crawlOnPaper(site, served.origin, webKey, { robots: true })
    served.hits.length = 0
    const args = [main, 'crawl', `${served.origin}/`, '--rate', '0', '--state', folder, '--audit']
    const interrupted = await run(args, 'SIGINT', Math.floor(paper.size / 4))
    expect(interrupted).toMatchObject({ code: 130 })
    expect(interrupted.stderr).toMatch(/pages still to fetch: the same command continues \(--state /)
    const killed = await run(args, 'SIGKILL', Math.floor(paper.size / 3))
    expect(killed).toMatchObject({ signal: 'SIGKILL' })
    const last = await run(args)
    expect(last).toMatchObject({ code: 0 })
    expect(last.stderr).toMatch(/audit: 0 of [\d,]+ pages lost/)
    const pages = [interrupted, killed, last].flatMap(({ stdout }) => pagesIn(stdout).pages)
    expect(unreached(paper, pages)).toEqual([])
    expect(pages.length - new Set(pages.map(({ url }) => webKey(url))).size).toBeLessThanOrEqual(CONCURRENCY)
  })
})

describe.runIf(isFull)('beside the crawler’s own', () => {
  it('memory, time and files', async () => {
    const rows: Record<string, unknown> = {}
    for (const kind of ['own', 'sieve', 'own', 'sieve']) {
      const folder = newFolder()
      const ended = await run([child, library, served.origin, folder, kind])
      expect(ended).toMatchObject({ code: 0 })
      const files = readdirSync(folder, { recursive: true }).length
      rows[`${kind} ${Object.keys(rows).length}`] = { ...JSON.parse(ended.stdout.toString()), files }
    }
    console.table(rows)
  })
})
