// Makes JavaScript of src/ for the child processes of tests, in the folder that is its argument: the modules that they load,
// joined into few files like dist/, since opening each of a hundred took most of a child's start. Packages are not taken in.
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'

/** What `load`, `import` and the scripts of tests name; '#store' is the second. */
const entries = [
  ...[
    'index',
    'store/index',
    'exact/index',
    'disk/index',
    'disk/run-hashes',
    'redis/index',
    'crawlers/crawlee',
  ],
  ...['crawlers/frontier', 'crawlers/frontier-log', 'crawlers/request-text'],
  ...['search/dataset', 'search/index-file'],
  ...['server/info', 'server/local-registry', 'server/resp/index', 'server/resp/limits'],
  ...['store/lock', 'store/repair', 'store/stored-keys', 'store/verify'],
]

const source = (entry) => fileURLToPath(new URL(`../../src/${entry}.ts`, import.meta.url))
const bundle = await rolldown({
  input: Object.fromEntries(entries.map((entry) => [entry, source(entry)])),
  external: (id) => !/^[./]/.test(id),
  platform: 'node',
})
// As deep as in src/, for `import.meta.url`.
await bundle.write({ dir: process.argv[2], chunkFileNames: 'chunks/[name].js', minify: false })
