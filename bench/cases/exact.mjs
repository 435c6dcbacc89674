// `urlsieve/exact` against plain LevelDB (get, then put, awaited one by one) on the same link stream, both from an empty
// folder, verdicts checked against a Set. Each sample is a fresh process, the order reversed from one round to the
// next: node bench/cases/exact.mjs [--links 1000000] [--rounds 3] [--seed 1] [--batch 1000]

import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { linkStream } from '../link-stream.mjs'

const count = { type: 'string' }
const { values } = parseArgs({
  options: { links: count, rounds: count, seed: count, batch: count, subject: count },
})
const links = Number(values.links ?? 1_000_000)
const rounds = Number(values.rounds ?? 3)
const seed = Number(values.seed ?? 1)
const batch = Number(values.batch ?? 1000)

/** How many verdicts differ from a Set's. */
function differences(stream, verdicts) {
  const truth = new Set()
  let wrong = 0
  for (const [i, link] of stream.entries()) {
    const isNew = !truth.has(link)
    truth.add(link)
    if (verdicts[i] !== Number(isNew)) wrong++
  }
  return wrong
}

const subjects = {
  async exact(folder, stream, verdicts) {
    const { ExactSieve } = await import('../../dist/exact/index.js')
    const sieve = await ExactSieve.open(folder)
    return async () => {
      for (let at = 0; at < stream.length; at += batch) {
        verdicts.set(await sieve.addMany(stream.slice(at, at + batch)), at)
      }
      await sieve.close()
    }
  },
  async plain(folder, stream, verdicts) {
    const { ClassicLevel } = await import('classic-level')
    const level = new ClassicLevel(folder)
    await level.open()
    return async () => {
      for (const [i, link] of stream.entries()) {
        if ((await level.get(link)) !== undefined) continue
        await level.put(link, '')
        verdicts[i] = 1
      }
      await level.close()
    }
  },
}

async function sample(subject) {
  const stream = linkStream({ links, seed })
  const verdicts = new Uint8Array(links)
  const root = mkdtempSync(join(tmpdir(), 'urlsieve-bench-'))
  try {
    const run = await subjects[subject](join(root, 'store'), stream, verdicts)
    const began = performance.now()
    await run()
    const seconds = (performance.now() - began) / 1000
    process.stdout.write(JSON.stringify({ seconds, differences: differences(stream, verdicts) }))
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}

function measured(subject) {
  const self = fileURLToPath(import.meta.url)
  const args = [self, '--subject', subject, '--links', links, '--seed', seed, '--batch', batch].map(String)
  const { stdout, stderr, status } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`${subject}: ${stderr}`)
  return JSON.parse(stdout)
}

const perSecond = (seconds) => `${Math.round(links / seconds).toLocaleString('en')} links/s`

if (values.subject) {
  await sample(values.subject)
} else {
  process.stdout.write(
    `${links} links, seed ${seed}, batches of ${batch}; ${cpus()[0].model}, ${process.version}\n`,
  )
  const ratios = []
  for (let round = 1; round <= rounds; round++) {
    const order = round % 2 === 1 ? ['exact', 'plain'] : ['plain', 'exact']
    const samples = Object.fromEntries(order.map((subject) => [subject, measured(subject)]))
    const { exact, plain } = samples
    ratios.push(plain.seconds / exact.seconds)
    const wrong = exact.differences + plain.differences
    process.stdout.write(
      `round ${round}: exact ${perSecond(exact.seconds)}, plain ${perSecond(plain.seconds)}, ` +
        `ratio ${ratios.at(-1).toFixed(1)}, ${wrong} differences from a Set\n`,
    )
    if (wrong > 0) process.exitCode = 1
  }
  const middle = ratios.sort((a, b) => a - b)[Math.floor(ratios.length / 2)]
  process.stdout.write(`median ratio ${middle.toFixed(1)}\n`)
}
