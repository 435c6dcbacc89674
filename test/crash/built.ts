// The library as JavaScript in a folder of its own, for the child processes of these tests: Node 20 runs no TypeScript,
// and dist/ may be older than src/.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../../', import.meta.url))

export interface Built {
  readonly folder: string
  remove(): void
}

export function build(): Built {
  const folder = mkdtempSync(join(tmpdir(), 'urlsieve-built-'))
  const args = [
    '-p',
    join(root, 'tsconfig.build.json'),
    '--outDir',
    folder,
    '--declaration',
    'false',
    '--emitDeclarationOnly',
    'false',
  ]
  const { stdout } = spawnSync(join(root, 'node_modules/.bin/tsc'), args, { encoding: 'utf8' })
  if (!existsSync(join(folder, 'index.js'))) throw new Error(`src/ does not build:\n${stdout}`)
  writeFileSync(
    join(folder, 'package.json'),
    JSON.stringify({ type: 'module', imports: { '#store': './store/index.js' } }),
  )
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) }
}

/** A folder that `remove` takes away. */
export function scratch(): Built {
  const folder = mkdtempSync(join(tmpdir(), 'urlsieve-store-'))
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) }
}
