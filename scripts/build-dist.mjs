// Makes dist/ of src/: the modules that the package gives out and the command, joined into few files, since opening each
// of a hundred modules took a third of the command's start; their types, a file per module, come from tsc. What the
// command and server depend on is taken in, with its licences. Then makes the command executable and puts it where
// `npx urlsieve` looks in this checkout, and writes the manual page.
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'
import { licencesOf } from './licences.mjs'

const at = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url))

const entries = [
  ...['index', 'exact/index', 'disk/index', 'redis/index', 'crawlers/crawlee', 'shapes/index', 'learn/index'], // package.json's exports
  ...['store/index', 'store/browser'], // and its imports
  'cli/main',
  'cli/dedupe-worker', // the module of its threads
]

if (existsSync(at('dist'))) {
  for (const name of readdirSync(at('dist'))) {
    if (name !== 'site') rmSync(at(`dist/${name}`), { recursive: true })
  }
}
// The user brings these, when needed: a native module, and the crawler that a queue is for.
const isBrought = (id) => /^(classic-level|@crawlee\/\w+|crawlee)$/.test(id)
const bundle = await rolldown({
  input: Object.fromEntries(entries.map((entry) => [entry, at(`src/${entry}.ts`)])),
  external: (id) => id.startsWith('node:') || id.startsWith('#') || isBuiltin(id) || isBrought(id),
  platform: 'node',
})
// In a folder of their own, like the entries: `import.meta.url` is as deep as in src/.
const { output } = await bundle.write({ dir: at('dist'), chunkFileNames: 'chunks/[name].js', minify: false })
writeFileSync(at('dist/LICENSES.txt'), licencesOf(output.flatMap(({ moduleIds = [] }) => moduleIds)))

const [main, link] = [at('dist/cli/main.js'), at('node_modules/.bin/urlsieve')]
chmodSync(main, 0o755)
mkdirSync(dirname(link), { recursive: true })
rmSync(link, { force: true })
symlinkSync('../../dist/cli/main.js', link)

// The manual page follows from the descriptions of the commands.
const manual = spawnSync(process.execPath, [main, 'manual'], { encoding: 'utf8' })
if (manual.status !== 0) throw new Error(`the manual page was not made: ${manual.stderr}`)
mkdirSync(at('dist/man'), { recursive: true })
writeFileSync(at('dist/man/urlsieve.1'), manual.stdout)
