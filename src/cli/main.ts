#!/usr/bin/env node
// Where the command begins. The threads of a long `dedupe` start first: they need as long as the rest of the command.
import { startThreadsOf } from './idle-threads.ts'

startThreadsOf(process.argv.slice(2))
const { runProgram } = await import('./program.ts')
await runProgram()
