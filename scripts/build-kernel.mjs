// Compiles kernel/ to one WebAssembly module and writes it, base64, into src/kernel-bytes.ts: so the library
// needs no file system and works unchanged in a browser bundle.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import asc from 'assemblyscript/asc'

const root = fileURLToPath(new URL('..', import.meta.url))
mkdirSync(`${root}build`, { recursive: true })
const { error, stderr } = await asc.main([
  'index.ts',
  '--baseDir',
  `${root}kernel`,
  '--config',
  'asconfig.json',
])
if (error) {
  process.stderr.write(`${stderr.toString()}\nkernel: ${error.message}\n`)
  process.exit(1)
}
const bytes = readFileSync(`${root}build/kernel.wasm`)
writeFileSync(
  `${root}src/kernel-bytes.ts`,
  `// Made by scripts/build-kernel.mjs from kernel/: the WebAssembly module, base64.\nexport const kernelBytes: string =\n  '${bytes.toString('base64')}'\n`,
)
process.stdout.write(`kernel: ${bytes.length} bytes of WebAssembly\n`)
