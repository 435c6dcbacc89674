// Commands whose second word is their verb, such as CLIENT and OBJECT: each verb is described as a command of its own.
import {
  type Call,
  type Command,
  type Description,
  definePlain,
  type PlainCommand,
  wrongArity,
} from './command.ts'
import { Failure, type Reply, Simple } from './replies.ts'
import { shapeOf, shownSyntax } from './syntax.ts'

export interface Subcommand extends Omit<Description, 'group' | 'flags'> {
  run(call: Call): Reply | Promise<Reply>
}

interface Container extends Omit<Description, 'syntax' | 'returns'> {
  readonly subcommands: readonly Subcommand[]
  /** The reply without a second word; absent: that is an error. */
  readonly alone?: (call: Call) => Reply
}

const MOST_LETTERS = 128

export function defineContainer({ subcommands, alone, ...container }: Container): PlainCommand {
  const { name, group, flags = [] } = container
  const all: PlainCommand[] = subcommands.map((one) => ({
    ...one,
    name: `${name}|${one.name}`,
    group,
    flags,
    ...shapeOf(one.syntax, 2),
  }))
  const help = definePlain({
    name: `${name}|HELP`,
    syntax: '',
    does: 'Lists the subcommands',
    returns: 'lines of text',
    group,
    run: () => helpOf(name, all).map((line) => new Simple(line)),
  })
  const byWord = new Map([...all, { ...help, arity: 2 }].map((one) => [one.name.slice(name.length + 1), one]))
  return {
    ...definePlain({
      ...container,
      syntax: alone ? '[subcommand]' : 'subcommand [argument ...]',
      returns: '',
      run(call) {
        if (call.count === 1) return alone!(call)
        const found = byWord.get(call.word(1))
        if (!found) {
          const word = call.text(1).slice(0, MOST_LETTERS)
          return new Failure(`ERR unknown subcommand '${word}'. Try ${name} HELP.`)
        }
        return isCount(found, call.count) ? found.run(call) : wrongArity(found.name)
      },
    }),
    subcommands: all,
  }
}

/** Whether a command takes this number of arguments, its name included. */
export const isCount = ({ arity }: Command, count: number) => (arity > 0 ? count === arity : count >= -arity)

function helpOf(name: string, all: readonly PlainCommand[]): string[] {
  return [
    `${name} <subcommand> [<arg> [value] [opt] ...]. Subcommands are:`,
    ...all.flatMap((one) => [
      [one.name.slice(name.length + 1), shownSyntax(one.syntax)].join(' ').trim(),
      `    ${one.does}.`,
    ]),
    'HELP',
    '    Print this help.',
  ]
}
