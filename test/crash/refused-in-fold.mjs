// Refuses URLs while a snapshot is written in the background (failing-disk.c): its filter has them, and a restart must not
// answer "seen" for them. Its argument is JSON: { built, root }. Ends with one line of JSON.
import { openSync, readdirSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { batchOf } from './batches.mjs'

const { built, root } = JSON.parse(process.argv[2])
const { Sieve } = await import(pathToFileURL(`${built}/index.js`).href)
const WRITE = 1
const EIO = 5

const control = openSync(process.env.FAIL_CONTROL, 'r+')
function set(...numbers) {
  const words = new Int32Array(8)
  words.set(numbers)
  writeSync(control, Buffer.from(words.buffer), 0, 32, 0)
}
const countOf = (answers) => answers.reduce((sum, answer) => sum + answer, 0)

for (let attempt = 0; ; attempt++) {
  const folder = join(root, `store-${attempt}`)
  const options = { filter: 'blocked', expectedUrls: 4_000_000, falsePositiveRate: 1e-6, profile: 'raw' }
  const sieve = await Sieve.open(folder, { ...options, durability: 'never', foldBytes: 500 })
  const kept = batchOf(1, 100)
  sieve.addMany(kept) // a snapshot begins
  const refused = batchOf(2, 100)
  let isRefused = false
  set(WRITE, EIO, 1, 1)
  try {
    sieve.addMany(refused)
  } catch {
    isRefused = true
  }
  set(0)
  while (sieve.stats().store.snapshotting) await setImmediate()
  const isSaved = readdirSync(folder).includes('snapshot-00000002.sieve')
  const report = {
    kept: countOf(sieve.hasMany(kept)),
    refused: countOf(sieve.hasMany(refused)),
    copied: await sieve.save(join(root, 'copy.sieve')).catch(({ code }) => code),
  }
  await sieve.close()
  // The one write that fails may be one of the snapshot's: then again.
  if (!isRefused || !isSaved) continue
  const again = await Sieve.open(folder)
  report.keptAfter = countOf(again.hasMany(kept))
  report.refusedAfter = countOf(again.hasMany(refused))
  report.urls = again.stats().urls
  report.fresh = countOf(again.addMany(refused))
  await again.close()
  console.log(JSON.stringify(report))
  break
}
