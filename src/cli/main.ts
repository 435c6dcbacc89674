#!/usr/bin/env node
// Where the command begins. The threads of a long `dedupe` start first: they need as long as the rest of the command.
import { startThreadsOf } from './idle-threads.ts'

startThreadsOf(process.argv.slice(2))
const { runProgram } = await import('./program.ts')
await runProgram()
// All is written and closed. Without this the engine would give its memory back piece by piece first, and connections that are kept
// open would hold the process for seconds.
process.exit()
