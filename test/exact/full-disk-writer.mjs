// Adds to an exact sieve under a file-size limit until the disk refuses, asks, has the limit lifted, and goes on.
// Its argument is JSON: { built, folder, durability }. Ends with one line of JSON.
import { execFileSync } from 'node:child_process'
import { pathToFileURL } from 'node:url'

const { built, folder, durability } = JSON.parse(process.argv[2])
const { ExactSieve } = await import(pathToFileURL(`${built}/exact/index.js`).href)
const sieve = await ExactSieve.open(folder, { durability, profile: 'raw' })
const batch = (n) => Array.from({ length: 200 }, (_, i) => `https://a.example/${n}/${i}/${'x'.repeat(40)}`)
const countNew = (verdicts) => verdicts.reduce((sum, verdict) => sum + verdict, 0)
const errors = []
let acknowledged = 0
let refused = null
for (let n = 0; n < 2000 && refused === null; n++) {
  try {
    await sieve.addMany(batch(n))
    acknowledged++
  } catch (error) {
    errors.push({ code: error.code, message: error.message })
    refused = n
  }
}
const known = []
for (let n = 0; n < acknowledged; n++) known.push(...batch(n))
const askedWhileFull = countNew(await sieve.hasMany(known)) === known.length
const refusedIsNew = countNew(await sieve.hasMany(batch(refused))) === 0
for (let i = 0; i < 3; i++) {
  await sieve
    .addMany(batch(refused))
    .catch((error) => errors.push({ code: error.code, message: error.message }))
}
execFileSync('prlimit', ['--pid', String(process.pid), '--fsize=unlimited'])
const afterwards = countNew(await sieve.addMany(batch(refused)))
const again = countNew(await sieve.addMany([...known, ...batch(refused)]))
await sieve.addMany(batch(refused + 1))
await sieve.close()
const opened = await ExactSieve.open(folder)
const kept = countNew(await opened.hasMany([...known, ...batch(refused), ...batch(refused + 1)]))
await opened.close()
console.log(JSON.stringify({ acknowledged, errors, askedWhileFull, refusedIsNew, afterwards, again, kept }))
