#!/usr/bin/env node
// The command. Every failure is one line on stderr and a documented exit code; a closed pipe is a normal end.
import { createRequire } from 'node:module'
import { Command, CommanderError } from 'commander'
import { SieveError } from '../index.ts'
import { dedupeCommand } from './dedupe.ts'
import { CommandError, EXIT } from './exit.ts'
import { explainCommand } from './explain.ts'
import { ClosedPipe } from './output.ts'
import { planCommand } from './plan.ts'
import { underCommand } from './under.ts'

const { version } = createRequire(import.meta.url)('../../package.json') as { version: string }

function codeOf(error: unknown): { code: number; message: string } {
  if (error instanceof ClosedPipe) return { code: 0, message: '' }
  if (error instanceof CommandError) return { code: error.exitCode, message: error.message }
  if (error instanceof SieveError) {
    return { code: error.code === 'room' ? EXIT.room : EXIT.usage, message: error.message }
  }
  if (error instanceof CommanderError) {
    const isHelp = error.exitCode === 0
    return { code: isHelp ? 0 : EXIT.usage, message: isHelp ? '' : error.message.replace(/^error: /, '') }
  }
  if (error instanceof RangeError && /memory/i.test(error.message)) {
    return { code: EXIT.room, message: `no memory for what was asked: ${error.message}` }
  }
  const what = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return { code: EXIT.defect, message: `a defect of urlsieve, please report it: ${what}` }
}

const program = new Command('urlsieve')
  .description('Have I seen this URL? Removes repeated URLs, plans filters, explains keys.')
  .version(version)
  .showHelpAfterError(false)
  .exitOverride()
  .configureOutput({ writeErr: () => {} })
  .addHelpText(
    'after',
    `
Exit codes: 0 done · 1 answered with no · 2 bad option · 3 bad input · 4 cannot write · 5 no memory

Example:
  urlsieve dedupe links.txt > unique.txt`,
  )
for (const add of [dedupeCommand, planCommand, explainCommand, underCommand]) add(program)
for (const command of program.commands) command.exitOverride().configureOutput({ writeErr: () => {} })

try {
  if (process.argv.length < 3) program.outputHelp()
  await program.parseAsync()
} catch (error) {
  const { code, message } = codeOf(error)
  process.exitCode = code
  if (message) process.stderr.write(`urlsieve: ${message}\n`)
}
