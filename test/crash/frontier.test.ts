// A crawl's frontier is killed with SIGKILL at random moments while it is written, again and again over the same folder. After
// each kill it opens, everything acknowledged is pending, and what was handled is not. 12 kills; URLSIEVE_FULL=1: 200.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { FrontierLog } from '../../src/crawlers/frontier-log.ts'
import { builtLibrary } from '../support/built.ts'
import { newFolders } from '../support/folders.ts'
import { randomFrom } from '../support/random.mjs'

const newFolder = newFolders()

const KILLS = process.env.URLSIEVE_FULL === '1' ? 200 : 12
const writer = fileURLToPath(new URL('frontier-writer.mjs', import.meta.url))

const built = builtLibrary()

/** Kills a writer at a random moment; the last time when it has written. */
async function killed(folder: string, from: number, isLast: boolean, random: () => number) {
  const argument = JSON.stringify({ built, folder, from })
  const child = spawn(process.execPath, [writer, argument], { stdio: ['ignore', 'pipe', 'pipe'] })
  let [out, errors] = ['', '']
  let timer: NodeJS.Timeout | undefined
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk
    if (isLast && !out.includes('done')) return
    timer ??= setTimeout(() => child.kill('SIGKILL'), 30 * random() ** 2)
  })
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk
    child.kill('SIGKILL')
  })
  await once(child, 'close')
  clearTimeout(timer)
  const numbers = (word: string) =>
    [...out.matchAll(new RegExp(`^${word} (\\d+)$`, 'gm'))].map((match) => Number(match[1]))
  return { tried: numbers('try'), done: numbers('done'), finished: new Set(numbers('finished')), errors }
}

/** What waits in a folder, and how many were handled. */
function pendingIn(folder: string): { pending: Set<string>; handled: number } {
  const { log, contents } = FrontierLog.open(folder)
  try {
    const pending = new Set<string>()
    for (let batch = log.read(contents.position); batch; batch = log.read(batch.next)) {
      for (const { place, text } of batch.entries) if (!contents.finished.has(place)) pending.add(text)
    }
    return { pending, handled: contents.handled }
  } finally {
    log.close()
  }
}

it(`killed ${KILLS} times: nothing acknowledged is lost or comes again`, { timeout: 1_800_000 }, async () => {
  const folder = newFolder()
  const random = randomFrom(77)
  const waiting = new Set<string>()
  let from = 1
  let batches = 0
  for (let kill = 0; kill < KILLS; kill++) {
    const { tried, done, finished, errors } = await killed(folder, from, kill === KILLS - 1, random)
    expect(errors, `kill ${kill}`).toBe('')
    const { pending } = pendingIn(folder)
    for (const batch of done) {
      for (let i = 0; i < 8; i++) {
        const text = `https://example.com/${batch}/${i}`
        // A finish that was under way may be done or not.
        const isKnown = i >= 4 || finished.has(batch)
        if (isKnown) expect(pending.has(text), `kill ${kill}: ${text}`).toBe(i >= 4)
        if (pending.has(text)) waiting.add(text)
      }
    }
    for (const text of waiting) if (!pending.has(text)) expect.fail(`kill ${kill}: ${text} is lost`)
    // Of the batch in flight all or nothing.
    const inFlight = tried.at(-1) === done.at(-1) ? undefined : tried.at(-1)
    if (inFlight !== undefined) {
      const found = [...pending].filter((text) => text.startsWith(`https://example.com/${inFlight}/`))
      expect([0, 8]).toContain(found.length)
      for (const text of found) waiting.add(text)
    }
    expect(pending.size, `kill ${kill}`).toBe(waiting.size)
    from = (tried.at(-1) ?? from - 1) + 1
    batches += done.length
  }
  console.log(`frontier: ${KILLS} kills, ${batches} batches acknowledged, 0 lost`)
  expect(batches).toBeGreaterThan(0)
})
