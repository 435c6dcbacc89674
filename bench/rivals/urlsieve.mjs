// urlsieve itself: the built command, and the library's Sieve with each filter.

import { readFileSync } from 'node:fs'
import { builtFile, missingBuild } from '../programs.mjs'

const commandFile = builtFile('cli/main.js')

function version() {
  const facts = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  return `urlsieve ${facts.version}`
}

const dedupe = (name, profile, threads) => ({
  name,
  threads,
  program: process.execPath,
  args: () => [commandFile, 'dedupe', '--profile', profile, '--threads', String(threads), '--quiet'],
  required: true,
  missing: () => missingBuild('cli/main.js'),
  version,
})

/** On one thread, as the rivals. */
export const commands = [dedupe('urlsieve-raw', 'raw', 1), dedupe('urlsieve-web', 'web', 1)]

/** The same on one thread and on more. */
export const threadCommands = ['raw', 'web'].flatMap((profile) =>
  [1, 2, 4].map((threads) => dedupe(`urlsieve-${profile}-${threads}`, profile, threads)),
)

const allPasses = ['strings', 'batches', 'lines']

export const filters = [
  sieve('urlsieve-fingerprint-raw', { filter: 'fingerprint', profile: 'raw' }, allPasses),
  sieve('urlsieve-fingerprint-web', { filter: 'fingerprint', profile: 'web' }, allPasses),
  sieve('urlsieve-classic-1e-3', { filter: 'classic', profile: 'raw', falsePositiveRate: 1e-3 }, allPasses),
  sieve('urlsieve-blocked-1e-3', { filter: 'blocked', profile: 'raw', falsePositiveRate: 1e-3 }, allPasses),
  sieve('urlsieve-classic-1e-6', { filter: 'classic', profile: 'raw', falsePositiveRate: 1e-6 }, ['strings']),
  sieve('urlsieve-blocked-1e-6', { filter: 'blocked', profile: 'raw', falsePositiveRate: 1e-6 }, ['strings']),
]

function sieve(name, options, passes) {
  return {
    name,
    passes,
    required: true,
    missing: () => missingBuild('index.js'),
    version,
    async open(expectedUrls) {
      const { Sieve } = await import(new URL('../../dist/index.js', import.meta.url).href)
      // The fingerprint filter grows: it needs no expected number of URLs.
      const sized = options.falsePositiveRate === undefined ? {} : { expectedUrls }
      const instance = await Sieve.create({ hash: 'siphash', ...options, ...sized })
      return {
        saysNew: true,
        add: (url) => instance.add(url),
        has: (url) => instance.has(url),
        addMany: (urls) => instance.addMany(urls),
        addLines: (bytes) => instance.addLines(bytes),
        sizeBytes: () => instance.stats().sizeBytes,
      }
    },
  }
}
