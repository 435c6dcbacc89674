// SIEVE.*: our own commands. A sieve is made before it is used, so that a mistyped name is an error and no new sieve.
import type { SieveOption } from '../../options/option.ts'
import { bySpelling, readOption } from '../../options/spelling.ts'
import { filterOptions, sharedNames } from '../../sieve-options.ts'
import { asideOf } from '../faults.ts'
import type { ServedSieve, SieveSpec } from '../registry.ts'
import {
  type Call,
  type Command,
  failureOf,
  type ItemsCommand,
  type PlainCommand,
  SYNTAX,
} from './command.ts'
import { textsFrom } from './items.ts'
import { Failure, OK, type Reply, Table } from './replies.ts'

const shown = (name: string) => name.slice(0, 128)

function sieveAt(call: Call): ServedSieve | Failure {
  const name = call.name(1)
  const { registry } = call.server
  const found = registry.get(name)
  if (found) return found
  const aside = asideOf(registry.faults, name)
  return new Failure(`ERR ${aside ?? `there is no sieve '${shown(name)}': SIEVE.CREATE makes one`}`)
}

/** A verb on a sieve that is there. */
const on =
  (act: (sieve: ServedSieve, call: Call) => Reply | Promise<Reply>): PlainCommand['run'] =>
  (call) => {
    const found = sieveAt(call)
    return found instanceof Failure ? found : act(found, call)
  }

const adding: ItemsCommand = {
  name: 'SIEVE.ADD',
  arity: -3,
  does: 'Marks URLs: 1 for each that is new',
  flags: ['write', 'denyoom'],
  key: 1,
  act: 'add',
  isMany: true,
  open: sieveAt,
}

const asking: ItemsCommand = {
  name: 'SIEVE.HAS',
  arity: -3,
  does: 'Whether URLs were seen; errs towards 1',
  flags: ['readonly', 'fast'],
  key: 1,
  act: 'has',
  isMany: true,
  open: sieveAt,
}

/** The words of SIEVE.CREATE, with the option or options of each. */
const WORDS = new Map<string, readonly SieveOption[]>([
  ...sharedNames.map((option) => [option.word, [option]] as const),
  ...bySpelling(filterOptions, ({ word }) => word),
])

function specOf(call: Call): SieveSpec | Failure {
  const spec: Record<string, unknown> = {}
  for (let i = 2; i < call.count; i += 2) {
    const word = call.word(i)
    const options = WORDS.get(word)
    if (!options) {
      return new Failure(`ERR unknown option '${shown(word)}': expected ${[...WORDS.keys()].join(', ')}`)
    }
    if (i + 1 === call.count) return SYNTAX
    try {
      const { name, value } = readOption(word, options, call.text(i + 1).toLowerCase())
      spec[name] = value
    } catch (error) {
      return failureOf(error)
    }
  }
  return spec
}

const create: PlainCommand = {
  name: 'SIEVE.CREATE',
  arity: -2,
  does: `Makes a sieve: ${[...WORDS.keys()].join(', ')}`,
  flags: ['write', 'denyoom'],
  key: 1,
  run(call) {
    const spec = specOf(call)
    if (spec instanceof Failure) return spec
    return call.server.registry.create(call.name(1), spec).then(() => OK)
  },
}

const explain: PlainCommand = {
  name: 'SIEVE.EXPLAIN',
  arity: 3,
  does: 'The key of a URL, what each rule did, and its verdict; marks nothing',
  flags: ['readonly'],
  key: 1,
  run: on(async (sieve, call) => {
    sieve.meters.asks++
    return tableOf(await sieve.explain(call.text(2)))
  }),
}

const under: PlainCommand = {
  name: 'SIEVE.UNDER',
  arity: 3,
  does: 'Whether anything was seen under a host or folder; errs towards 1',
  flags: ['readonly'],
  key: 1,
  run: on(async (sieve, call) => {
    const filter = (await sieve.stats()).filter
    if (!sieve.under) {
      return new Failure(`ERR filter '${filter}' does not remember folders: FILTER prefix-layers does`)
    }
    sieve.meters.asks++
    return await sieve.under(call.text(2))
  }),
}

const forget: PlainCommand = {
  name: 'SIEVE.FORGET',
  arity: -3,
  does: 'Forgets URLs: 1 for each that was remembered',
  flags: ['write'],
  key: 1,
  run: on(async (sieve, call) => {
    if (!sieve.forget) {
      const { filter } = await sieve.stats()
      return new Failure(`ERR filter '${filter}' cannot forget: FILTER fingerprint can`)
    }
    const urls = await textsFrom(call, 2)
    if (!urls) return new Failure('ERR a URL is no UTF-8: expected text')
    const shown = (answers: Uint8Array): Reply[] => Array.from(answers, (was) => was === 1)
    try {
      return shown(await sieve.forget(urls))
    } catch (error) {
      const { answered } = error as { answered?: Uint8Array }
      if (!answered) throw error
      return [...shown(answered), failureOf(error)]
    }
  }),
}

/** Names and values of an object, and of the objects in it. */
function tableOf(value: object): Table {
  return new Table(Object.entries(value).map(([name, one]) => [name, replyOf(one)]))
}

function replyOf(value: unknown): Reply {
  if (Array.isArray(value)) return value.map(replyOf)
  if (value instanceof Date) return value.toISOString()
  if (typeof value === 'object' && value !== null) return tableOf(value)
  return value as Reply
}

const stats: PlainCommand = {
  name: 'SIEVE.STATS',
  arity: 2,
  does: 'Counts, size, fill and expected rate of a sieve',
  flags: ['readonly'],
  key: 1,
  run: on(async (sieve, call) => {
    const { name, kind, createdAt, meters } = sieve
    const faults = call.server.registry.faults.of(name)
    return tableOf({ name, kind, createdAt, ...(await sieve.stats()), meters: { ...meters }, faults })
  }),
}

const save: PlainCommand = {
  name: 'SIEVE.SAVE',
  arity: 2,
  does: 'Folds the log of a sieve into its snapshot, on the disk; without --data there is nothing to do',
  flags: ['write'],
  key: 1,
  run: on(async (sieve) => {
    await sieve.save()
    return OK
  }),
}

export const sieveCommands: readonly Command[] = [create, adding, asking, explain, under, forget, stats, save]
