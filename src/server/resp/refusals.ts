// Errors that apply to every command: checked before it runs.
import { type Call, type Command, type Group, wrongArity } from './command.ts'
import { isCount } from './container.ts'
import { Failure } from './replies.ts'
import { whyUnsupported } from './unsupported.ts'

/** The reply to a defect of urlsieve; the log has the reason. */
export const DEFECT = new Failure('ERR a defect of urlsieve, please report it')
const NO_AUTH = new Failure('NOAUTH Authentication required.')

const LOADING = new Failure('LOADING urlsieve is opening its sieves: try again')

const HTTP = new Set(['POST', 'PUT', 'HOST:'])
const HTTP_VERSION = /^HTTP\/\d/
const MOST_LETTERS = 128
const SHOWN_ARGUMENTS = 8
/** Of a command that is executed in one step: many words would keep other clients waiting. */
const MOST_ARGUMENTS = 1024
const IN_ONE_STEP: ReadonlySet<Group> = new Set(['transactions', 'connection', 'server'])

/** Whether an unknown command is HTTP: a page can make a browser send it, and chooses the lines after it, which must not be read as commands. */
export const isHttp = (word: string, call: Call) =>
  HTTP.has(word) || (call.count > 1 && HTTP_VERSION.test(call.word(call.count - 1)))

/** Not authenticated, unknown, a wrong number of arguments, loading, or no database; null when the command may run. */
export function refusalOf(command: Command | undefined, call: Call): Failure | null {
  if (!call.client.isTrusted && !command?.flags?.includes('noauth')) return NO_AUTH
  if (!command) return unknownCommand(call)
  const { name, group, needsNoDatabase } = command
  if (!isCount(command, call.count)) return wrongArity(name)
  if (IN_ONE_STEP.has(group) && call.count > MOST_ARGUMENTS + 1) return tooMany(name, call.count - 1)
  if (needsNoDatabase) return null
  if (call.server.registry.isLoading) return LOADING
  const { missingDatabase } = call.client
  return missingDatabase === undefined ? null : noDatabase(missingDatabase)
}

/** Some clients ignore the error of SELECT: their commands must not be executed in database 0. */
export function noDatabase(selected: string): Failure {
  return new Failure(
    `ERR DB index is out of range: database '${selected.slice(0, MOST_LETTERS)}' was selected, expected 0, the only one; nothing is done until SELECT 0`,
  )
}

const tooMany = (name: string, count: number) =>
  new Failure(`ERR ${count} arguments for '${name.toLowerCase()}': expected at most ${MOST_ARGUMENTS}`)

function unknownCommand(call: Call): Failure {
  const argument = (i: number) => call.text(i).slice(0, MOST_LETTERS)
  const rest = Array.from(
    { length: Math.min(call.count - 1, SHOWN_ARGUMENTS) },
    (_, i) => `'${argument(i + 1)}' `,
  )
  const text = `ERR unknown command '${argument(0)}', with args beginning with: ${rest.join('')}`
  const why = whyUnsupported(call.word(0))
  return new Failure(why === undefined ? text : `${text}: ${why}`)
}
