// Packs the tarball for npm: `npm pack` of the same files with a package.json for its users, in which there is nothing for the work
// on urlsieve. npm warns of scripts that it would not run.
//   node scripts/pack.mjs [FOLDER]   prints what `npm pack --json` prints
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const target = resolve(process.argv[2] ?? root)
const { scripts, devDependencies, workspaces, overrides, ...manifest } = JSON.parse(
  readFileSync(join(root, 'package.json'), 'utf8'),
)

const folder = mkdtempSync(join(tmpdir(), 'urlsieve-pack-'))
try {
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
  const names = ['README.md', 'LICENSE', ...manifest.files.filter((name) => !name.startsWith('!'))]
  for (const name of names) {
    if (existsSync(join(root, name))) cpSync(join(root, name), join(folder, name), { recursive: true })
  }
  const { status } = spawnSync('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', target], {
    cwd: folder,
    stdio: 'inherit',
  })
  process.exitCode = status ?? 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}
