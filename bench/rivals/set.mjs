// JavaScript's Set of strings: what most crawlers in Node keep. Exact, and holds every URL in full.
// Run as a program (`node set.mjs < IN > OUT`) it deduplicates lines with readline, writing 64 KiB at a time.

import { writeSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const thisFile = fileURLToPath(import.meta.url)
const blockChars = 1 << 16
const version = () => `Set of Node ${process.version}`

export const commands = [
  {
    name: 'set-readline',
    program: process.execPath,
    args: () => ['--max-old-space-size=16000', thisFile],
    missing: () => undefined,
    version,
  },
]

export const filters = [
  {
    name: 'set',
    passes: ['strings'],
    missing: () => undefined,
    version,
    async open() {
      const set = new Set()
      return {
        saysNew: true,
        add: (url) => {
          const before = set.size
          return set.add(url).size !== before
        },
        has: (url) => set.has(url),
      }
    },
  },
]

function dedupeLines() {
  const seen = new Set()
  let block = ''
  createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY })
    .on('line', (line) => {
      if (seen.has(line)) return
      seen.add(line)
      block += `${line}\n`
      if (block.length < blockChars) return
      writeSync(1, block)
      block = ''
    })
    .on('close', () => writeSync(1, block))
}

if (process.argv[1] === thisFile) dedupeLines()
