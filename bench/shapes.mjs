// The speed, memory and counts of `urlsieve shapes` on generated URLs: planted shapes with 5 % random URLs, or random hosts,
// paths and names throughout. The URLs are written to a temporary file first.
//   node bench/shapes.mjs --urls 1e7 [--kind planted|random] [--seed 17] [--json]
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { randomFrom } from '../test/support/random.mjs'
import { measure } from './measure.mjs'
import { plant } from './planted-shapes.mjs'
import { builtFile, missingBuild } from './programs.mjs'

const { values } = parseArgs({
  options: {
    urls: { type: 'string', default: '1e6' },
    kind: { type: 'string', default: 'planted' },
    seed: { type: 'string', default: '17' },
    json: { type: 'boolean', default: false },
  },
})
const urls = Number(values.urls)
const missing = missingBuild('cli/main.js')
if (missing) throw new Error(missing)
if (values.kind !== 'planted' && values.kind !== 'random')
  throw new Error(`--kind ${values.kind}: expected planted or random`)

/** URLs whose hosts, segments and names are all random: no two have a shape in common before their places are found. */
function scatter(n, seed, take) {
  const next = randomFrom(seed)
  const word = () => Math.floor(next() * 2 ** 32).toString(36)
  let lines = []
  for (let i = 1; i <= n; i++) {
    lines.push(`https://${word()}.example/${word()}/${word()}?${word()}=${word()}`)
    if (lines.length < 10_000 && i < n) continue
    take(`${lines.join('\n')}\n`)
    lines = []
  }
  return new Map()
}

const folder = mkdtempSync(join(tmpdir(), 'urlsieve-shapes-'))
try {
  const path = join(folder, 'urls.txt')
  const file = openSync(path, 'w')
  const generate = values.kind === 'planted' ? plant : scatter
  const planted = generate(urls, Number(values.seed), (lines) => writeSync(file, lines))
  closeSync(file)
  const args = [builtFile('cli/main.js'), 'shapes', '--json', '--quiet', '--limit', '30', path]
  const { wallMs, cpuMs, peakRssBytes, stdout } = await measure({ program: process.execPath, args })
  const report = JSON.parse(stdout)
  const found = new Map(
    report.list.flatMap(({ host, shapes }) => shapes.map((shape) => [host + shape.shape, shape])),
  )
  const wrong = [...planted].filter(([name, count]) => {
    const shape = found.get(name)
    return !shape || shape.count > count || shape.count + shape.error < count
  })
  const result = {
    urls,
    kind: values.kind,
    seconds: wallMs / 1000,
    cpuSeconds: cpuMs / 1000,
    urlsPerSecond: Math.round(urls / (wallMs / 1000)),
    peakRssBytes,
    planted: planted.size,
    outsideTheirError: wrong.length,
    countError: report.countError,
  }
  if (values.json) console.log(JSON.stringify(result))
  else {
    console.log(
      `${urls} URLs, ${values.kind}: ${(wallMs / 1000).toFixed(1)} s (${(cpuMs / 1000).toFixed(1)} s of CPU), ` +
        `${(urls / wallMs / 1000).toFixed(2)} million URLs per second, ${Math.round(peakRssBytes / 1e6)} MB`,
    )
    if (planted.size > 0)
      console.log(
        `${planted.size - wrong.length} of ${planted.size} planted shapes are found with a count within its error`,
      )
  }
  if (wrong.length > 0) process.exitCode = 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}
