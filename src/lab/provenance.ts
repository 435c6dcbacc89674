// The provenance of results: machine, versions, commit and command.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { availableParallelism, cpus, release, totalmem } from 'node:os'
import { fileURLToPath } from 'node:url'

export interface Provenance {
  readonly date: string
  readonly machine: {
    readonly processor: string
    readonly cores: number
    readonly memoryBytes: number
    readonly system: string
    readonly architecture: string
  }
  readonly versions: Readonly<Record<string, string>>
  /** The commit of urlsieve's own checkout; null for an installed package. */
  readonly commit: string | null
}

const root = fileURLToPath(new URL('../..', import.meta.url))

export function provenance(now = new Date()): Provenance {
  return {
    date: now.toISOString(),
    machine: {
      processor: cpus()[0]?.model.trim() ?? 'unknown',
      cores: availableParallelism(),
      memoryBytes: totalmem(),
      system: `${process.platform} ${release()}`,
      architecture: process.arch,
    },
    versions: versions(),
    commit: commit(),
  }
}

// Bundled packages are identified by urlsieve's version.
function versions(): Record<string, string> {
  const own = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as { version: string }
  return { node: process.versions.node, v8: process.versions.v8, urlsieve: own.version }
}

function commit(): string | null {
  if (!existsSync(`${root}.git`)) return null
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', root, ...args], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim()
  try {
    const head = git('rev-parse', '--short=12', 'HEAD')
    return git('status', '--porcelain', '--untracked-files=no') ? `${head} with local changes` : head
  } catch {
    return null
  }
}

/** The command line that repeats a run. */
export function commandLine(words: readonly string[]): string {
  return words
    .map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`))
    .join(' ')
}
