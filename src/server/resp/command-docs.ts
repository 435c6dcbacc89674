// COMMAND: what each command takes and does, from its description. redis-cli completes commands with it.
import type { Call, Command } from './command.ts'
import { defineContainer, isCount } from './container.ts'
import { Constant, Failure, Long, type Reply, Simple, Table, Unordered } from './replies.ts'
import { documentArguments } from './syntax.ts'

const NO_KEYS = new Failure('ERR The command has no key arguments')

const simples = (words: readonly string[]) => new Unordered(words.map((word) => new Simple(word)))

/** The categories that follow from the flags; the others are not used here. */
function categoriesOf({ flags = [], group }: Command): string[] {
  const isFast = flags.includes('fast')
  return [
    ...(flags.includes('write') ? ['@write'] : []),
    ...(flags.includes('readonly') ? ['@read'] : []),
    ...(group === 'generic' ? ['@keyspace'] : []),
    ...(group === 'set' || group === 'connection' ? [`@${group}`] : []),
    ...(group === 'transactions' ? ['@transaction'] : []),
    isFast ? '@fast' : '@slow',
  ]
}

const subcommandsOf = (command: Command) => ('subcommands' in command ? (command.subcommands ?? []) : [])

function keySpecs({ keys: { first, last }, flags = [] }: Command): Reply {
  if (first === 0) return []
  const flag = flags.includes('write') ? 'RW' : 'RO'
  return [
    new Table([
      ['flags', simples([flag])],
      [
        'begin_search',
        new Table([
          ['type', 'index'],
          ['spec', new Table([['index', first]])],
        ]),
      ],
      [
        'find_keys',
        new Table([
          ['type', 'range'],
          [
            'spec',
            new Table([
              ['lastkey', last < 0 ? last : last - first],
              ['keystep', 1],
              ['limit', 0],
            ]),
          ],
        ]),
      ],
    ]),
  ]
}

/** The ten fields of COMMAND INFO. */
function describe(command: Command): Reply {
  const { name, arity, flags = [], keys } = command
  return [
    name.toLowerCase(),
    arity,
    simples(flags),
    keys.first,
    keys.last,
    keys.first === 0 ? 0 : 1,
    simples(categoriesOf(command)),
    [],
    keySpecs(command),
    subcommandsOf(command).map(describe),
  ]
}

function document(command: Command): Reply {
  const { does, group, args } = command
  const subcommands = subcommandsOf(command)
  const isAlone = subcommands.length === 0 && args.length > 0
  const rowOf = (one: Command) => [one.name.toLowerCase(), document(one)] as const
  return new Table([
    ['summary', does],
    ['since', '1.0.0'],
    ['group', group],
    ...(isAlone ? ([['arguments', documentArguments(args)]] as const) : []),
    ...(subcommands.length > 0 ? ([['subcommands', new Table(subcommands.map(rowOf))]] as const) : []),
  ])
}

/** Of each command, what is said about it. */
function constants(of: (command: Command) => Reply): (command: Command) => Constant {
  const made = new Map<Command, Constant>()
  return (command) => {
    let constant = made.get(command)
    if (!constant) {
      constant = new Constant(() => of(command))
      made.set(command, constant)
    }
    return constant
  }
}

const described = constants(describe)
const documented = constants(document)

function* describeAll(some: readonly (Command | undefined)[]): Generator<Reply> {
  for (const one of some) yield one ? described(one) : null
}

function* documentAll(some: readonly Command[]): Generator<Reply> {
  for (const one of some) {
    yield one.name.toLowerCase()
    yield documented(one)
  }
}

const descriptions = (some: readonly (Command | undefined)[]) => new Long(some.length, describeAll(some))

/** The command of this name, or the subcommand after a bar. */
function commandAt({ server: { commands } }: Call, word: string): Command | undefined {
  const [name = '', verb] = word.split('|')
  const command = commands.get(name)
  if (!command || verb === undefined) return command
  return subcommandsOf(command).find((one) => one.name === word)
}

const requested = (call: Call) =>
  Array.from({ length: call.count - 2 }, (_, i) => commandAt(call, call.word(i + 2)))

const allOf = ({ server: { commands } }: Call) => [...commands.values()]

function keysOf(call: Call): Reply {
  const named = commandAt(call, call.word(2))
  const verb = call.count > 3 ? commandAt(call, `${call.word(2)}|${call.word(3)}`) : undefined
  const command = named && subcommandsOf(named).length > 0 ? verb : named
  if (!command) return new Failure('ERR Invalid command specified')
  const { first, last } = command.keys
  if (first === 0) return NO_KEYS
  const count = call.count - 2
  if (!isCount(command, count)) return new Failure('ERR Invalid number of arguments specified for command')
  const end = last < 0 ? count - 1 : last
  return Array.from({ length: end - first + 1 }, (_, i) => call.bytes(2 + first + i))
}

const command = defineContainer({
  name: 'COMMAND',
  does: 'Describes the commands',
  group: 'server',
  needsNoDatabase: true,
  alone: (call) => descriptions(allOf(call)),
  subcommands: [
    {
      name: 'COUNT',
      syntax: '',
      does: 'Their number',
      returns: 'a number',
      run: (call) => call.server.commands.size,
    },
    {
      name: 'LIST',
      syntax: '',
      does: 'Their names',
      returns: 'an array of names',
      run: (call) => allOf(call).map(({ name }) => name.toLowerCase()),
    },
    {
      name: 'INFO',
      syntax: '[command-name [command-name ...]]',
      does: 'Arity, flags and keys of all, or of some',
      returns: 'an array of ten fields each, or nil',
      run: (call) => descriptions(call.count > 2 ? requested(call) : allOf(call)),
    },
    {
      name: 'DOCS',
      syntax: '[command-name [command-name ...]]',
      does: 'What they do, and their arguments',
      returns: 'names and descriptions',
      run(call) {
        const some = call.count > 2 ? requested(call).filter((one) => one !== undefined) : allOf(call)
        return new Long(some.length, documentAll(some), true)
      },
    },
    {
      name: 'GETKEYS',
      syntax: 'command arg [arg ...]',
      does: 'The keys among the arguments of a command',
      returns: 'an array of names',
      run: keysOf,
    },
  ],
})

export const commandCommands: readonly Command[] = [command]
