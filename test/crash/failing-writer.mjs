// Runs one kind of store on a disk that fails (failing-disk.c), once for each step that can fail in each way, and checks
// after each: what was acknowledged is there, what was refused is not, while the disk fails, as a kill would leave it, and
// after closing. Its argument is JSON: { built, kind, root, failures: [{ calls, errno, count }], steps }. Ends with one line
// of JSON.
import { cpSync, lstatSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { itemsOf } from '../support/items.mjs'
import { batchOf } from './batches.mjs'

const { built, kind, root, failures, steps } = JSON.parse(process.argv[2])
const load = (path) => import(pathToFileURL(`${built}/${path}.js`).href)
const BATCHES = 12
const BATCH_URLS = 15
const BACK = 'https://taken.back/'
const key = new Uint8Array(16).fill(11)
const CALLS = { write: 1, sync: 2, rename: 4, close: 8 }

const control = openSync(process.env.FAIL_CONTROL, 'r+')
const words = new Int32Array(8)
/** Calls of the mask fail as `failure` says from the call `at` on; without one none do. */
function set(mask, at, { errno, count } = { errno: 0, count: 0 }) {
  words.set([mask, errno, at, count, 0, 0, 0, 0])
  writeSync(control, Buffer.from(words.buffer), 0, 32, 0)
}
function callsSoFar() {
  const bytes = Buffer.alloc(32)
  readAt(control, bytes)
  return bytes.readInt32LE(16)
}
const { readSync } = await import('node:fs')
function readAt(fd, bytes) {
  readSync(fd, bytes, 0, bytes.length, 0)
}

const { Sieve } = await load('index')
const stored = {
  fingerprint: {},
  'fingerprint always': { durability: 'always' },
  'fingerprint with keys': { keepKeys: true },
  blocked: { filter: 'blocked', expectedUrls: 2000, falsePositiveRate: 1e-9 },
  classic: { filter: 'classic', expectedUrls: 2000, falsePositiveRate: 1e-9, durability: 'always' },
  multilayer: { filter: 'multilayer', expectedUrls: 2000, falsePositiveRate: 1e-6 },
  scalable: { filter: 'scalable', expectedUrls: 100, falsePositiveRate: 1e-9 },
}

const countOf = (answers) => answers.reduce((sum, answer) => sum + answer, 0)

/** A store of any kind behind four verbs. */
async function opened(folder) {
  if (kind.startsWith('exact')) {
    const { ExactSieve } = await load('exact/index')
    const durability = kind.endsWith('always') ? 'always' : 'interval'
    const sieve = await ExactSieve.open(folder, { profile: 'raw', durability })
    return {
      add: (urls) => sieve.addMany(urls),
      has: async (urls) => countOf(await sieve.hasMany(urls)),
      forget: (url) => sieve.delete(url),
      fold: () => sieve.sync(),
      sync: () => sieve.sync(),
      urls: async () => {
        await sieve.filled()
        return sieve.stats().urls
      },
      close: () => sieve.close(),
    }
  }
  if (kind === 'server') {
    const { LocalRegistry } = await load('server/local-registry')
    const registry = await LocalRegistry.open({ data: folder, memoryBytes: 2 ** 30, mostSieves: 10 })
    let served = registry.get('a')
    try {
      served ??= await registry.create('a', {})
    } catch (error) {
      await registry.close().catch(() => {})
      throw error
    }
    return {
      add: (urls) => served.add(itemsOf(urls)),
      has: async (urls) => countOf(await served.has(itemsOf(urls))),
      forget: (url) => served.forget([url])[0] === 1,
      fold: () => served.save(),
      sync: () => {},
      urls: async () => (await served.stats()).urls,
      close: () => registry.close(),
    }
  }
  if (kind.startsWith('frontier')) {
    const { Frontier } = await load('crawlers/frontier')
    const durability = kind.endsWith('always') ? 'always' : 'interval'
    const frontier = Frontier.open({ folder, durability, fileBytes: 2000 })
    const pending = () => [...frontier.texts()].flat().filter((text) => text !== BACK)
    return {
      add: (urls) => {
        frontier.release(frontier.hold(urls))
        return urls.map(() => 1)
      },
      has: (urls) => {
        const texts = new Set(pending())
        return urls.filter((url) => texts.has(url)).length
      },
      // Written down and taken back.
      fold: () => {
        const held = frontier.hold([BACK])
        frontier.release(held, held.places)
      },
      sync: () => {},
      urls: () => pending().length,
      close: () => frontier.close(),
    }
  }
  const options = folder.endsWith('made') ? {} : { ...stored[kind], profile: 'raw', key }
  const sieve = await Sieve.open(folder, { ...options, foldBytes: 3000 })
  return {
    add: (urls) => (urls.length === 1 ? [Number(sieve.add(urls[0]))] : sieve.addMany(urls)),
    has: (urls) => countOf(sieve.hasMany(urls)),
    forget: sieve.delete ? (url) => sieve.delete(url) : undefined,
    fold: () => sieve.save(),
    sync: () => sieve.sync(),
    clear: () => sieve.clear(),
    urls: () => sieve.stats().urls,
    close: () => sieve.close(),
  }
}

const problems = []
let where = ''
const check = (isSo, what) => isSo || problems.push(`${where}: ${what}`)

/** What a store must hold and must not hold; `tried`: the fate of these is unknown. */
class Truth {
  acknowledged = new Set()
  refused = new Set()
  async check(store, when) {
    const known = [...this.acknowledged]
    const unknown = [...this.refused]
    const lost = known.length - (await store.has(known))
    const wrong = unknown.length === 0 ? 0 : await store.has(unknown)
    check(lost === 0, `${lost} of ${known.length} acknowledged URLs are lost ${when}`)
    check(wrong === 0, `${wrong} of ${unknown.length} refused URLs are seen ${when}`)
  }
}

async function add(store, truth, urls) {
  try {
    const fresh = countOf(await store.add(urls))
    check(fresh === urls.length, `${urls.length - fresh} of ${urls.length} new URLs were seen`)
    for (const url of urls) {
      truth.acknowledged.add(url)
      truth.refused.delete(url)
    }
  } catch (error) {
    check(['disk', 'corrupt'].includes(error.code), error.stack)
    for (const url of urls) truth.refused.add(url)
  }
}

const attempt = async (act) => {
  try {
    await act()
    return true
  } catch (error) {
    check(error.name === 'SieveError', error.stack)
    return false
  }
}

async function run(step, failure) {
  const mask = failure.calls.reduce((sum, call) => sum | CALLS[call], 0)
  const folder = join(root, `${step}-store`)
  const copy = join(root, `${step}-copy`)
  mkdirSync(copy, { recursive: true })
  set(mask, step, failure)
  const truth = new Truth()
  let store = null
  let done = 0
  for (let i = 0; i < 3 && !store; i++) {
    await attempt(async () => {
      store = await opened(folder)
    })
  }
  if (store) {
    for (let batch = 0; batch < BATCHES; batch++) {
      await add(store, truth, batchOf(batch, batch % 4 === 0 ? 1 : BATCH_URLS))
      if (batch % 3 === 2) await truth.check(store, 'while the disk fails')
      if (batch === 4) await attempt(() => store.fold())
      if (batch === 2 && step % 2 === 0 && store.clear) {
        await attempt(async () => {
          await store.clear()
          truth.acknowledged.clear()
        })
      }
      if (batch === 6) await attempt(() => store.sync())
      if (batch === 7 && store.forget) {
        const [url] = truth.acknowledged
        await attempt(async () => {
          if (url && (await store.forget(url))) truth.acknowledged.delete(url)
        })
      }
      if (batch === 8 && truth.refused.size > 0) await add(store, truth, [...truth.refused])
    }
    await truth.check(store, 'while the disk fails')
    const total = callsSoFar()
    set(0, 0) // copying is the test's own
    cpSync(folder, copy, {
      recursive: true,
      filter: (path) => !lstatSync(path).isSocket() && !/\/(lock|LOCK)$/.test(path),
    })
    set(mask, step > total ? step - total : failure.count < 0 ? 1 : 1_000_000, failure)
    await attempt(() => store.close())
    done = total + callsSoFar()
  }
  set(0, 0)
  for (const [path, when] of store
    ? [
        [copy, 'after a kill'],
        [folder, 'after closing'],
      ]
    : [[folder, 'later']]) {
    try {
      const again = await opened(path)
      await truth.check(again, when)
      const urls = await again.urls()
      check(
        urls === truth.acknowledged.size,
        `${urls} URLs are counted, expected ${truth.acknowledged.size} ${when}`,
      )
      if (truth.refused.size > 0) {
        const fresh = countOf(await again.add([...truth.refused]))
        check(fresh === truth.refused.size, `${truth.refused.size - fresh} refused URLs are seen ${when}`)
      }
      await again.close()
    } catch (error) {
      check(false, `does not open ${when}: ${error.stack}`)
    }
  }
  rmSync(folder, { recursive: true, force: true })
  rmSync(copy, { recursive: true, force: true })
  return { total: done, refused: truth.refused.size, acknowledged: truth.acknowledged.size }
}

const figure = { steps: 0, acknowledged: 0, refused: 0 }
for (const failure of failures) {
  const { calls, errno, count } = failure
  where = 'no failure'
  const { total } = await run(1_000_000, failure)
  const chosen =
    steps === 'all'
      ? Array.from({ length: total }, (_, i) => i + 1)
      : steps.map((part) => 1 + Math.floor(part * total))
  for (const step of chosen) {
    where = `${kind}, ${calls} ${errno} ${count}, step ${step} of ${total}`
    const done = await run(step, failure)
    figure.acknowledged += done.acknowledged
    figure.refused += done.refused
  }
  figure.steps += chosen.length
}
console.log(JSON.stringify({ ...figure, problems: problems.slice(0, 20) }))
