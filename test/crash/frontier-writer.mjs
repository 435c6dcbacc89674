// A crawl's frontier under load, to be killed: writes texts down and finishes them, and says on stdout what was
// acknowledged. Its argument is JSON: { built, folder, from }.
import { writeSync } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'

const { built, folder, from } = JSON.parse(process.argv[2])
const { FrontierLog } = await import(pathToFileURL(`${built}/crawlers/frontier-log.js`).href)

function say(line) {
  const bytes = Buffer.from(`${line}\n`)
  for (let at = 0; at < bytes.length; ) {
    try {
      at += writeSync(1, bytes, at)
    } catch (error) {
      if (error.code !== 'EAGAIN') throw error
    }
  }
}

// Small files, so that the log goes on in another one now and then.
const { log } = FrontierLog.open(folder, from % 2 ? 'interval' : 'always', 4096)
say('open')
for (let batch = from; ; batch++) {
  const texts = Array.from({ length: 8 }, (_, i) => `https://example.com/${batch}/${i}`)
  say(`try ${batch}`)
  const { places } = log.append(texts)
  say(`done ${batch}`)
  // The first half of each batch is handled.
  say(`finishing ${batch}`)
  log.finish(places.slice(0, 4), 'handled')
  say(`finished ${batch}`)
  await setImmediate()
}
