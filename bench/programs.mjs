// Programs on this machine: where they are, and their versions.

import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { accessSync, constants, readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The absolute path of `name` on PATH, or undefined. */
export function findProgram(name) {
  for (const directory of (process.env.PATH ?? '').split(delimiter)) {
    const path = join(directory, name)
    try {
      accessSync(path, constants.X_OK)
      return path
    } catch {
      // Not in this directory.
    }
  }
  return undefined
}

/** Why `name` cannot be measured here, or undefined when it can. */
export function missingProgram(name) {
  return findProgram(name) ? undefined : `${name} is not on PATH`
}

/** The first line that `name` prints about itself. */
export function programVersion(name, args = ['--version']) {
  try {
    const out = execFileSync(name, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
    return out.split('\n', 1)[0].trim()
  } catch {
    return undefined
  }
}

/** The installed version of an npm package, whether or not it exports its package.json. */
export function packageVersion(name) {
  let directory = dirname(createRequire(import.meta.url).resolve(name))
  while (directory !== dirname(directory)) {
    try {
      const facts = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'))
      if (facts.name === name) return `${name} ${facts.version}`
    } catch {
      // No package.json here: it is further up.
    }
    directory = dirname(directory)
  }
  return undefined
}

/** Why a file of the built package cannot be used, or undefined when it can. */
export function missingBuild(path) {
  try {
    accessSync(builtFile(path))
    return undefined
  } catch {
    return `dist/${path} is not there: run npm run build first`
  }
}

/** The absolute path of a file of the built package. */
export function builtFile(path) {
  return fileURLToPath(new URL(`../dist/${path}`, import.meta.url))
}

/** A digest of all that is built, to notice a build in the middle of a run; null when nothing is built. */
export function buildDigest() {
  const hash = createHash('sha256')
  try {
    const names = readdirSync(builtFile(''), { recursive: true }).filter((name) => /\.(js|wasm)$/.test(name))
    for (const name of names.sort()) hash.update(name).update(readFileSync(builtFile(name)))
    return hash.digest('hex').slice(0, 16)
  } catch {
    return null
  }
}
