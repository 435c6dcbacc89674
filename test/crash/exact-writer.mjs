// A writer under load, to be killed: adds to an exact sieve and deletes from it, and says on stdout what was
// acknowledged. Its argument is JSON: { built, folder, options, from, batchUrls }.
import { pathToFileURL } from 'node:url'
import { printLine } from '../support/print-line.mjs'
import { batchOf } from './batches.mjs'

const { built, folder, options, from, batchUrls } = JSON.parse(process.argv[2])
const { ExactSieve } = await import(pathToFileURL(`${built}/exact/index.js`).href)

const sieve = await ExactSieve.open(folder, options)
printLine('open')
for (let batch = from; ; batch++) {
  const urls = batchOf(batch, batchUrls)
  printLine(`try ${batch}`)
  // One in four is single URLs called together; some of it was seen before.
  const verdicts =
    batch % 4 === 0
      ? (await Promise.all(urls.map((url) => sieve.add(url)))).map(Number)
      : [...(await sieve.addMany([...urls, ...urls.slice(0, 3)]))].slice(0, batchUrls)
  if (verdicts.includes(0)) throw new Error(`batch ${batch} was seen before`)
  printLine(`done ${batch}`)
  if (batch % 5 === 0) {
    printLine(`deleting ${batch}`)
    if (!(await sieve.delete(urls[0]))) throw new Error(`${urls[0]} is lost`)
    printLine(`deleted ${batch}`)
  }
  // Some runs end as they should: the filter is saved, and the next opening believes it.
  if (batch === from + 40 && from % 3 === 0) {
    await sieve.close()
    printLine('closed')
    break
  }
}
