// Makes dist/ of src/: the modules that the package gives out and the command, joined into few files, since opening each
// of a hundred modules took a third of the command's start; their types, a file per module, come from tsc. What every
// user of the library loads is one file, and what only the command loads for `dedupe` is another, but for the little that is loaded
// first. What the command and server depend
// on is taken in, with its licences. Then makes the command executable and puts it where `npx urlsieve` looks in this
// checkout, and writes the manual page.
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'
import { licencesOf } from './licences.mjs'

const at = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url))

/** What package.json exports, and imports itself. */
const exports = [
  ...['index', 'exact/index', 'disk/index', 'redis/index', 'crawlers/crawlee', 'shapes/index', 'learn/index'],
  ...['store/index', 'store/browser'],
]
const entries = [...exports, 'cli/main']
/** The module of the command's threads: a file of its own, so that a thread starts soon. */
const worker = 'cli/dedupe-worker'

if (existsSync(at('dist'))) {
  for (const name of readdirSync(at('dist'))) {
    if (name !== 'site') rmSync(at(`dist/${name}`), { recursive: true })
  }
}
// The user brings these, when needed: a native module, and the crawler that a queue is for.
const isBrought = (id) => /^(classic-level|@crawlee\/\w+|crawlee)$/.test(id)
const bundleOf = (names) =>
  rolldown({
    input: Object.fromEntries(names.map((name) => [name, at(`src/${name}.ts`)])),
    external: (id) => id.startsWith('node:') || id.startsWith('#') || isBuiltin(id) || isBrought(id),
    platform: 'node',
    preserveEntrySignatures: 'allow-extension', // which groups of modules without their imports need
  })
// In a folder of their own, like the entries: `import.meta.url` is as deep as in src/.
const options = { dir: at('dist'), chunkFileNames: 'chunks/[name].js', minify: false }

const bundle = await bundleOf(entries)
const { output: small } = await bundle.generate(options)
const library = loadedBy(small, ['index'])
const exported = loadedBy(small, exports)
const first = loadedBy(small, ['cli/main', 'cli/idle-threads'])
const dedupe = loadedBy(small, ['cli/program', 'cli/dedupe'])
const groups = [
  { name: 'first', test: (id) => first.has(id) && id !== at('src/cli/main.ts'), priority: 2 },
  { name: 'library', test: (id) => library.has(id), priority: 1 },
  { name: 'command', test: (id) => dedupe.has(id) && !exported.has(id) },
]
const { output } = await bundle.write({
  ...options,
  codeSplitting: { groups, includeDependenciesRecursively: false },
})
const { output: alone } = await (await bundleOf([worker])).write({ ...options, codeSplitting: false })

/** The modules that are loaded with these, which are in these chunks. */
function loadedBy(chunks, names) {
  const entries = names.map((name) => at(`src/${name}.ts`))
  const loaded = new Set(chunks.filter(({ facadeModuleId }) => entries.includes(facadeModuleId)))
  for (const { imports } of loaded)
    for (const chunk of chunks) if (imports.includes(chunk.fileName)) loaded.add(chunk)
  return new Set([...loaded].flatMap(({ moduleIds }) => moduleIds))
}

writeFileSync(
  at('dist/LICENSES.txt'),
  licencesOf([...output, ...alone].flatMap(({ moduleIds = [] }) => moduleIds)),
)

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
