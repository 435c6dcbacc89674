// A crawl's frontier under load, to be killed: writes texts down and finishes them, and says on stdout what was
// acknowledged. Its argument is JSON: { built, folder, from }.
import { setImmediate } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { printLine } from '../support/print-line.mjs'

const { built, folder, from } = JSON.parse(process.argv[2])
const { FrontierLog } = await import(pathToFileURL(`${built}/crawlers/frontier-log.js`).href)

// Small files, so that the log goes on in another one now and then.
const { log } = FrontierLog.open(folder, from % 2 ? 'interval' : 'always', 4096)
printLine('open')
for (let batch = from; ; batch++) {
  const texts = Array.from({ length: 8 }, (_, i) => `https://example.com/${batch}/${i}`)
  printLine(`try ${batch}`)
  const { places } = log.append(texts)
  printLine(`done ${batch}`)
  // The first half of each batch is handled.
  printLine(`finishing ${batch}`)
  log.finish(places.slice(0, 4), 'handled')
  printLine(`finished ${batch}`)
  await setImmediate()
}
