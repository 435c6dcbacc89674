// The command. Every failure is one line on stderr and a documented exit code; a closed pipe is a normal end.
import { createRequire } from 'node:module'
import { inspect } from 'node:util'
import { Command, CommanderError } from 'commander'
import { isAllocationFailure, SieveError } from '../errors.ts'
import { registerCommands } from './commands.ts'
import { CommandError, EXIT, systemExit } from './exit.ts'
import { ClosedPipe, Output, writeStderr } from './output.ts'
import { stop } from './stop.ts'

const { version } = createRequire(import.meta.url)('../../package.json') as { version: string }

const SIEVE_EXIT = {
  option: EXIT.usage,
  memory: EXIT.memory,
  full: EXIT.memory,
  corrupt: EXIT.input,
  version: EXIT.input,
  locked: EXIT.input,
  disk: EXIT.output,
  network: EXIT.input,
} as const

const COMMANDER_PREFIX = 'error: '

async function exitOf(error: unknown): Promise<{ code: number; message: string }> {
  if (error instanceof ClosedPipe) return { code: 0, message: '' }
  if (error instanceof CommandError) return { code: error.exitCode, message: error.message }
  if (error instanceof SieveError) {
    const code = error.operation === 'read' ? EXIT.input : SIEVE_EXIT[error.code]
    // Loaded now: a command that ends well does not need it.
    const { flagOf } = await import('./sieve-options.ts')
    return { code, message: error.spell(flagOf) }
  }
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return { code: 0, message: '' }
    if (error.code === 'commander.help') {
      return { code: EXIT.usage, message: "expected a command: see 'urlsieve --help'" }
    }
    const { message } = error
    const text = message.startsWith(COMMANDER_PREFIX) ? message.slice(COMMANDER_PREFIX.length) : message
    return { code: EXIT.usage, message: text.replaceAll('\n', ' ') }
  }
  if (isAllocationFailure(error)) return { code: EXIT.memory, message: `no memory left: ${error.message}` }
  const system = systemExit(error)
  if (system) return system
  if (process.env.URLSIEVE_DEBUG) writeStderr(`${inspect(error)}\n`)
  const what = error instanceof Error ? error.message : String(error)
  return {
    code: EXIT.defect,
    message: `a defect of urlsieve, please report it (URLSIEVE_DEBUG=1 shows where): ${what}`,
  }
}

/** Options that name a folder, which would be made. */
const FOLDERS = ['state', 'data']
/** Of two letters at least: `C:` is a drive. */
const SCHEME = /^[a-z][a-z\d+.-]+:/i

// An address that only looks like one: a folder named `redis:` is never meant.
function checkFolders(options: Readonly<Record<string, unknown>>): void {
  for (const name of FOLDERS) {
    const path = options[name]
    const scheme = typeof path === 'string' ? SCHEME.exec(path)?.[0] : undefined
    if (scheme === undefined) continue
    throw new CommandError(
      EXIT.usage,
      `--${name} begins with '${scheme}': expected a folder, not an address; write ./${scheme}… for a folder of that name`,
    )
  }
}

/** One line, whatever a file's name holds. */
const oneLine = (text: string) =>
  text.replace(/[\x00-\x1f\x7f]/g, (c) => `\\x${c.charCodeAt(0).toString(16).padStart(2, '0')}`)

/** Runs the command that the arguments of this process name. */
export async function runProgram(): Promise<void> {
  const writers = { writeOut: (text: string) => new Output().print(text), writeErr: () => {} }
  const program = new Command('urlsieve')
    .description('Have I seen this URL? Removes repeated URLs, plans filters, explains keys.')
    .version(version)
    .showHelpAfterError(false)
    .commandsGroup('Other:')
    .helpCommand('help [command]', "help for a command; 'help filters' lists the options of each filter")
    .exitOverride()
    .configureOutput(writers)
    .addHelpText(
      'after',
      `
Exit codes: 0 done · 1 answered with no · 2 bad option · 3 bad input · 4 cannot write · 5 no memory · 6 unreadable lines

Example:
  urlsieve dedupe links.txt > unique.txt`,
    )
  await registerCommands(program, process.argv[2])
  program.hook('preAction', (_, command) => checkFolders(command.opts()))
  for (const command of program.commands) command.exitOverride().configureOutput(writers)

  try {
    const [first, second, third] = process.argv.slice(2)
    if (first === undefined) program.outputHelp()
    else if (first === 'help' && second === 'filters') {
      const { printFilterHelp } = await import('./filter-help.ts')
      printFilterHelp(third)
    } else await program.parseAsync()
  } catch (error) {
    const { code, message } = await exitOf(error)
    process.exitCode = code
    if (message) writeStderr(`urlsieve: ${oneLine(message)}\n`)
  }
  await stop.end()
}
