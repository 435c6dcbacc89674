// Why a command is not done, whatever it is: said to the client before anything is looked up.
import { type Call, type Command, wrongArity } from './command.ts'
import { Failure } from './replies.ts'

/** The one answer that is our fault; the log has the reason. */
export const DEFECT = new Failure('ERR a defect of urlsieve, please report it')
const NO_AUTH = new Failure('NOAUTH Authentication required.')

const HTTP = new Set(['POST', 'PUT', 'HOST:'])
const HTTP_VERSION = /^HTTP\/\d/
const MOST_LETTERS = 128
const MOST_SHOWN = 8

/** Of a command that is not known. A browser that a page sent here: its next lines, which the page chose, must not be read as commands. */
export const isHttp = (word: string, call: Call) =>
  HTTP.has(word) || (call.count > 1 && HTTP_VERSION.test(call.word(call.count - 1)))

/** No password yet, no such command, or not so many arguments; null when it may be done. */
export function refusalOf(command: Command | undefined, call: Call): Failure | null {
  if (!call.client.isTrusted && !command?.flags?.includes('noauth')) return NO_AUTH
  if (!command) return unknown(call)
  const { arity, name, needsNoDatabase } = command
  const isRight = arity > 0 ? call.count === arity : call.count >= -arity
  if (!isRight) return wrongArity(name)
  const { missingDatabase } = call.client
  return missingDatabase === undefined || needsNoDatabase ? null : noDatabase(missingDatabase)
}

/** There is database 0 only: a client that selected another must not go on in that one unawares. */
export function noDatabase(selected: string): Failure {
  return new Failure(
    `ERR DB index is out of range: database '${selected.slice(0, MOST_LETTERS)}' was selected, expected 0, the only one; nothing is done until SELECT 0`,
  )
}

function unknown(call: Call): Failure {
  const shown = (i: number) => call.text(i).slice(0, MOST_LETTERS)
  const rest = Array.from({ length: Math.min(call.count - 1, MOST_SHOWN) }, (_, i) => `'${shown(i + 1)}' `)
  return new Failure(`ERR unknown command '${shown(0)}', with args beginning with: ${rest.join('')}`)
}
