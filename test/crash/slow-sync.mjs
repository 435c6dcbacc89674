// Waits until a store syncs in the background on a disk whose syncs are slow and fail (failing-disk.c), and calls sync and
// close meanwhile. Its argument is JSON: { built, kind, root }. Ends with one line of JSON.
import { openSync, readdirSync, readSync, statSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'

const { built, kind, root } = JSON.parse(process.argv[2])
const load = (path) => import(pathToFileURL(`${built}/${path}.js`).href)
const SYNC = 2
const EIO = 5
const SLOW_MS = 1500
/** Far less, for a machine that is busy between. */
const WAITED_MS = 300

const control = openSync(process.env.FAIL_CONTROL, 'r+')
function set(...numbers) {
  const words = new Int32Array(8)
  words.set(numbers)
  writeSync(control, Buffer.from(words.buffer), 0, 32, 0)
}
function begun() {
  const bytes = Buffer.alloc(32)
  readSync(control, bytes, 0, 32, 0)
  return bytes.readInt32LE(28)
}
const resultOf = async (act) => {
  try {
    await act()
    return 'done'
  } catch (error) {
    return error.code
  }
}

async function opened(folder) {
  if (kind === 'exact') {
    const { ExactSieve } = await load('exact/index')
    const sieve = await ExactSieve.open(folder)
    return {
      add: (url) => sieve.add(url),
      sync: () => sieve.sync(),
      close: () => sieve.close(),
      has: (url) => sieve.has(url),
    }
  }
  if (kind === 'store') {
    const { Sieve } = await load('index')
    const sieve = await Sieve.open(folder)
    return {
      add: (url) => sieve.add(url),
      sync: () => sieve.sync(),
      close: () => sieve.close(),
      has: (url) => sieve.has(url),
    }
  }
  const { Frontier } = await load('crawlers/frontier')
  const frontier = Frontier.open({ folder })
  return {
    add: (url) => frontier.release(frontier.hold([url])),
    close: () => frontier.close(),
    has: (url) => [...frontier.texts()].flat().includes(url),
  }
}

// Until a sync in the background has begun. One that is late is done by the next add itself: so a second is waited first.
async function inBackground(store, url) {
  await setTimeout(1100)
  await store.add(url)
  set(SYNC, EIO, 1, 1, 0, 0, SLOW_MS)
  while (begun() === 0) await setTimeout(5)
}

const folder = join(root, 'store')
const store = await opened(folder)
await store.add('https://example.com/0')
if (store.sync) await store.sync()
const report = { sync: null, syncAgain: null }
let waited = true
if (store.sync) {
  await inBackground(store, 'https://example.com/1')
  const since = performance.now()
  report.sync = await resultOf(() => store.sync())
  waited = performance.now() - since > WAITED_MS
  set(0, 0, 0, 0, 0, 0, 0)
  // The log whose sync failed is replaced by another file.
  report.syncAgain = await resultOf(() => store.sync())
}
const identity = () => readdirIn(folder).join()
await inBackground(store, 'https://example.com/2')
const before = identity()
const since = performance.now()
report.close = await resultOf(() => store.close())
waited &&= performance.now() - since > WAITED_MS
set(0, 0, 0, 0, 0, 0, 0)
report.waited = waited
report.rewritten = identity() !== before
const again = await opened(folder)
report.kept = true
for (const n of store.sync ? [0, 1, 2] : [0, 2]) report.kept &&= await again.has(`https://example.com/${n}`)
await again.close()
console.log(JSON.stringify(report))

/** The logs there, each with its inode: one that was written anew has another. */
function readdirIn(path) {
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter(({ name }) => /^log-|\.log$|^frontier-/.test(name))
    .map((entry) => `${entry.name} ${statSync(join(entry.path, entry.name)).ino}`)
    .sort()
}
