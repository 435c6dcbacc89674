// Modules of src/ that the package does not export, for benchmarks that weigh other ways to do the same: bundled into
// .data/ and imported from there.

import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'

const at = (path) => fileURLToPath(new URL(path, import.meta.url))

/** All exports of these modules, named by their paths in src/ without `.ts`. */
export async function importInternals(...paths) {
  const source = paths.map((path) => `export * from ${JSON.stringify(at(`../src/${path}.ts`))}`).join('\n')
  const entry = 'internals'
  const bundle = await rolldown({
    input: entry,
    platform: 'node',
    external: (id) => id.startsWith('node:') || id.startsWith('#'),
    plugins: [
      {
        name: 'internals',
        resolveId: (id) => (id === entry ? `\0${entry}` : null),
        load: (id) => (id === `\0${entry}` ? source : null),
      },
    ],
  })
  const file = at('.data/internals.mjs')
  await bundle.write({ file, format: 'esm' })
  await bundle.close()
  return import(file)
}
