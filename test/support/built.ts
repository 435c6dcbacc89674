// The library as JavaScript, for the child processes of tests: Node 20 runs no TypeScript, and dist/ may be older than
// src/. Built once per run, by the first test file that needs it; as vitest's global set-up it provides the folder.
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isFirst, RUN_FOLDER } from './once.ts'

export const root = fileURLToPath(new URL('../../', import.meta.url))

const POLL_MS = 50
const TIMEOUT_MS = 100_000

export default function setup(): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'urlsieve-built-'))
  chmodSync(folder, 0o755) // one test reads it as another user
  process.env[RUN_FOLDER] = folder
  return () => rmSync(folder, { recursive: true, force: true })
}

/** The folder of the library as JavaScript. Waits while another worker builds it. */
export function builtLibrary(): string {
  const run = process.env[RUN_FOLDER]!
  const library = join(run, 'library')
  const ready = join(run, 'ready')
  if (!existsSync(ready) && isFirst(join(run, 'started'))) build(library, ready)
  for (const end = performance.now() + TIMEOUT_MS; !existsSync(ready); ) {
    if (performance.now() > end) throw new Error('src/ was not built by another test file')
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, POLL_MS)
  }
  return library
}

function build(library: string, ready: string): void {
  const script = fileURLToPath(new URL('build-library.mjs', import.meta.url))
  const { stderr } = spawnSync(process.execPath, [script, library], { encoding: 'utf8' })
  if (!existsSync(join(library, 'index.js'))) throw new Error(`src/ does not build:\n${stderr}`)
  const imports = { '#store': './store/index.js' }
  writeFileSync(join(library, 'package.json'), JSON.stringify({ type: 'module', imports }))
  symlinkSync(join(root, 'node_modules'), join(library, 'node_modules'))
  writeFileSync(ready, '')
}
