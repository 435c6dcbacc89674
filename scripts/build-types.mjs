// Makes the types of what package.json exports, a file per module, by tsc; those that no exported type leads to are taken away.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, rmdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const dist = join(root, 'dist')
const { exports, types } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

const { status } = spawnSync('npx', ['tsc', '-p', 'tsconfig.build.json'], { cwd: root, stdio: 'inherit' })
if (status !== 0) process.exit(status ?? 1)

const entries = [types, ...Object.values(exports).map((entry) => entry.types)].filter(Boolean)
const reached = new Set(entries.map((path) => join(root, path)))
for (const path of reached) {
  for (const [, name] of readFileSync(path, 'utf8').matchAll(
    /(?:\bfrom |\bimport )?\(?["'](\.[^"']+)\.ts["']/g,
  )) {
    const target = join(dirname(path), `${name}.d.ts`)
    if (existsSync(target)) reached.add(target)
    else throw new Error(`${path} names ${name}.ts, which has no types`)
  }
}

const all = readdirSync(dist, { recursive: true, encoding: 'utf8' })
for (const name of all) {
  const path = join(dist, name)
  if (name.endsWith('.d.ts') && !reached.has(path)) rmSync(path)
}
const isEmpty = (path) => readdirSync(path).length === 0
for (const folder of new Set(all.map((name) => join(dist, dirname(name))))) {
  for (let path = folder; path !== dist && existsSync(path) && isEmpty(path); path = dirname(path))
    rmdirSync(path)
}
