// A writer under load, to be killed: adds batch after batch to a disk sieve and prints which were acknowledged.
// Its argument is JSON: { built, folder, options, from, batchUrls }.
import { pathToFileURL } from 'node:url'
import { printLine } from '../support/print-line.mjs'
import { batchOf } from './batches.mjs'

const { built, folder, options, from, batchUrls } = JSON.parse(process.argv[2])
const { DiskSieve } = await import(pathToFileURL(`${built}/disk/index.js`).href)

const sieve = await DiskSieve.open(folder, options)
printLine('open')
for (let batch = from; ; batch++) {
  printLine(`try ${batch}`)
  const urls = batchOf(batch, batchUrls)
  const verdicts = await sieve.addMany([...urls, ...urls.slice(0, 3)])
  if (verdicts.subarray(0, batchUrls).includes(0)) throw new Error(`batch ${batch} was seen before`)
  printLine(`done ${batch}`)
}
