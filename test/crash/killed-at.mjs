// Writes what several sieves have into one, and is killed at the given call to the file system. Its argument is JSON:
// { built, kind, from, output, killAt }.
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const { built, kind, from, output, killAt } = JSON.parse(process.argv[2])
const load = (path) => import(pathToFileURL(join(built, path)).href)

let left = Number.POSITIVE_INFINITY
const changing = [
  'open',
  'write',
  'fsync',
  'fdatasync',
  'rename',
  'mkdir',
  'rm',
  'unlink',
  'link',
  'writeFile',
]
for (const name of changing.flatMap((name) => [name, `${name}Sync`])) {
  const real = fs[name]
  const watched = (...args) => {
    if (left-- === 0) process.kill(process.pid, 'SIGKILL')
    return real(...args)
  }
  // What `promisify` makes of it.
  fs[name] = Object.defineProperties(watched, Object.getOwnPropertyDescriptors(real))
}
syncBuiltinESMExports()

const { Sieve, freeze } = await load('index.js')
const { mergeStores } = await load('disk/run-hashes.js')

const kinds = {
  stores: () => mergeStores(from, output),
  async merge() {
    const [first, ...rest] = await Promise.all(from.map((path) => Sieve.load(path)))
    for (const other of rest) await first.merge(other)
    await first.save(output)
  },
  async freeze() {
    const frozen = await freeze(await Sieve.load(from[0]))
    await frozen.save(output)
  },
}
left = killAt
await kinds[kind]()
