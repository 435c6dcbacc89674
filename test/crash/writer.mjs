// A writer under load, to be killed: adds batch after batch to a store and says on stdout which were acknowledged.
// Its argument is JSON: { built, folder, options, from, batchUrls }.
import { setImmediate } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { printLine } from '../support/print-line.mjs'
import { batchOf } from './batches.mjs'

const { built, folder, options, from, batchUrls } = JSON.parse(process.argv[2])
const { Sieve } = await import(pathToFileURL(`${built}/index.js`).href)

const sieve = await Sieve.open(folder, options)
printLine('open')
for (let batch = from; ; batch++) {
  printLine(`try ${batch}`)
  const urls = batchOf(batch, batchUrls)
  // One in four is one URL at a time; some of it was seen before.
  if (batch % 4 === 0) for (const url of urls) sieve.add(url)
  else sieve.addMany([...urls, ...urls.slice(0, 3)])
  printLine(`done ${batch}`)
  await setImmediate()
}
