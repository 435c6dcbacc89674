#!/usr/bin/env node
// Where the command begins. Nothing is loaded before the version of Node is known: an older one lacks what the rest imports.
const isOtherRuntime = 'Deno' in globalThis || 'Bun' in globalThis
const [major, minor] = process.versions.node.split('.').map(Number)
if (!isOtherRuntime && (major! < 20 || (major === 20 && minor! < 19))) {
  process.stderr.write(`urlsieve: needs Node 20.19 or later, this is ${process.versions.node}\n`)
  process.exit(2)
}
// The threads of a long `dedupe` start first: they need as long as the rest of the command.
const { startThreadsOf } = await import('./idle-threads.ts')
startThreadsOf(process.argv.slice(2))
const { runProgram } = await import('./program.ts')
await runProgram()
// All is written and closed. Without this the engine would give its memory back piece by piece first, and connections that are kept
// open would hold the process for seconds.
process.exit()

export {}
