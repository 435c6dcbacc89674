// The runtimes that the package supports, as binaries from npm, kept in node_modules/.cache between runs. One that the
// registry does not have for this platform is missing with a reason.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../e2e/command.ts'
import { fetchPackage } from './packed.ts'

export interface Runtime {
  readonly name: string
  readonly program: string
  /** What comes before a script's name. */
  readonly args: readonly string[]
  /** Why it cannot be run here; empty when it can. */
  readonly missing: string
}

interface Source {
  readonly name: string
  readonly version: string
  /** The npm package with this platform's binary. */
  readonly package: string
  readonly binary: string
  readonly args?: readonly string[]
}

const { platform, arch } = process
const armOr64 = arch === 'arm64' ? 'aarch64' : arch

const node = (version: string): Source => ({
  name: `Node ${version}`,
  version,
  package: `node-${platform}-${arch}`,
  binary: 'bin/node',
})

/** The oldest version of package.json's `engines`, and a newer major; Bun and Deno. */
const sources: readonly Source[] = [
  node('20.19.0'),
  node('24.9.0'),
  {
    name: 'Bun',
    version: '1.4.4',
    package: `@oven/bun-${platform}-${armOr64}`,
    binary: 'bin/bun',
  },
  {
    name: 'Deno',
    version: '2.9.6',
    package: `@deno/${platform}-${arch}${platform === 'linux' ? '-glibc' : ''}`,
    binary: 'deno',
    args: ['run', '--allow-all'],
  },
]

async function fetchRuntime({ name, version, package: id, binary, args = [] }: Source): Promise<Runtime> {
  const folder = join(root, 'node_modules/.cache/urlsieve-runtimes', `${id.replace('/', '-')}-${version}`)
  const program = join(folder, 'node_modules', id, binary)
  const missing = existsSync(program) ? undefined : await fetchPackage(`${id}@${version}`, folder)
  return { name, program, args, missing: missing ?? '' }
}

/** The runtime of these tests and all of the list. */
export async function fetchRuntimes(): Promise<Runtime[]> {
  const own = { name: `Node ${process.version}`, program: process.execPath, args: [], missing: '' }
  const runtimes: Runtime[] = [own, ...(await Promise.all(sources.map(fetchRuntime)))]
  for (const { name, missing } of runtimes) {
    if (missing) process.stdout.write(`the tests of ${name} are skipped: ${missing}\n`)
  }
  return runtimes
}
