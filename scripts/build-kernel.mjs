// Compiles kernel/ to one WebAssembly module: kernel/index.ts and every file of kernel/filters/. Writes it, base64, into
// src/kernel-bytes.ts, so that the library needs no file system and works unchanged in a browser bundle, and the types
// of its exports into src/kernel-exports.ts.
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import asc from 'assemblyscript/asc'

const root = fileURLToPath(new URL('..', import.meta.url))
const filters = readdirSync(`${root}kernel/filters`).filter((name) => name.endsWith('.ts'))
const written = new Map()
const { error, stderr } = await asc.main(
  [
    'index.ts',
    ...filters.sort().map((name) => `filters/${name}`),
    '--baseDir',
    `${root}kernel`,
    '--config',
    'asconfig.json',
    '--bindings',
    'raw',
  ],
  { writeFile: (name, contents) => written.set(name.replace(/^.*\//, ''), contents) },
)
if (error) {
  process.stderr.write(`${stderr.toString()}\nkernel: ${error.message}\n`)
  process.exit(1)
}
const bytes = Buffer.from(written.get('kernel.wasm'))
mkdirSync(`${root}build`, { recursive: true })
writeFileSync(`${root}build/kernel.wasm`, bytes)
writeFileSync(
  `${root}src/kernel-bytes.ts`,
  `// Made by scripts/build-kernel.mjs from kernel/: the WebAssembly module, base64.\nexport const kernelBytes: string =\n  '${bytes.toString('base64')}'\n`,
)
writeFileSync(`${root}src/kernel-exports.ts`, exportTypes(written.get('kernel.d.ts')))
process.stdout.write(`kernel: ${bytes.length} bytes of WebAssembly\n`)

// The compiler's declarations as an interface. A boolean of the kernel is a number, 0 or 1, to a caller of the bare module.
function exportTypes(declarations) {
  const members = [...declarations.matchAll(/^ {2}export (const|function) (\w+)(.*)$/gm)].flatMap(
    ([, kind, name, rest]) => {
      if (name === 'memory') return []
      if (kind === 'const') return [`  readonly ${name}: WebAssembly.Global`]
      return [`  ${name}${rest.replace(/\bboolean\b/g, 'number').replace(/;$/, '')}`]
    },
  )
  return `// Made by scripts/build-kernel.mjs from kernel/.

/** What the kernel exports. Pointers and counts come back signed: \`>>> 0\` them. */
export interface KernelExports {
${members.join('\n')}
}
`
}
