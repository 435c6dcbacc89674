// SIEVE.*: our own commands. A sieve is made before it is used, so that a mistyped name is an error and no new sieve.

import { limitOptions } from '../../options/limit-options.ts'
import type { SieveOption } from '../../options/option.ts'
import { bySpelling, readOption } from '../../options/spelling.ts'
import { filterOptions, sharedNames } from '../../sieve-options.ts'
import { expiryDate } from '../expiry.ts'
import { asideOf } from '../faults.ts'
import type { ServedSieve, SieveSpec } from '../registry.ts'
import { checkExplained, checkUrlBytes } from '../url-limits.ts'
import { type Call, type Command, defineItems, definePlain, failureOf, SYNTAX } from './command.ts'
import { Failure, OK, type Reply, Table, Verdicts } from './replies.ts'
import { textsFrom } from './texts.ts'

const shown = (name: string) => name.slice(0, 128)

function sieveAt(call: Call): ServedSieve | Failure {
  const name = call.name(1)
  const { registry } = call.server
  const found = registry.get(name)
  if (found) return found
  const aside = asideOf(registry.faults, name)
  return new Failure(`ERR ${aside ?? `there is no sieve '${shown(name)}': SIEVE.CREATE makes one`}`)
}

/** The sieve that is asked about the URLs from argument 2 on. */
function askedAt(call: Call): ServedSieve | Failure {
  checkUrlBytes(call.longest(2))
  return sieveAt(call)
}

/** A verb on a sieve that is there. */
const on =
  (
    act: (sieve: ServedSieve, call: Call) => Reply | Promise<Reply>,
  ): ((call: Call) => Reply | Promise<Reply>) =>
  (call) => {
    const found = askedAt(call)
    return found instanceof Failure ? found : act(found, call)
  }

const adding = defineItems({
  name: 'SIEVE.ADD',
  syntax: 'name url [url ...]',
  does: 'Marks URLs: 1 for each that is new',
  returns: 'an array: 1 new, 0 seen',
  group: 'sieve',
  flags: ['write', 'denyoom'],
  act: 'add',
  isMany: true,
  form: 'verdicts',
  open: askedAt,
})

const asking = defineItems({
  name: 'SIEVE.HAS',
  syntax: 'name url [url ...]',
  does: 'Whether URLs were seen; errs towards 1',
  returns: 'an array: 1 seen, 0 not; marks nothing',
  group: 'sieve',
  flags: ['readonly', 'fast'],
  act: 'has',
  isMany: true,
  form: 'verdicts',
  open: askedAt,
})

/** The words of SIEVE.CREATE, with the option or options of each. */
const WORDS = new Map<string, readonly SieveOption[]>([
  ...sharedNames.map((option) => [option.word, [option]] as const),
  ...bySpelling(filterOptions, ({ word }) => word),
  ...limitOptions.map((option) => [option.word, [option]] as const),
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

const create = definePlain({
  name: 'SIEVE.CREATE',
  syntax: `name ${Array.from(WORDS.keys(), (word) => `[${word} ${word.toLowerCase()}]`).join(' ')}`,
  does: 'Creates a sieve',
  returns: 'OK',
  group: 'sieve',
  flags: ['write', 'denyoom'],
  run(call) {
    const spec = specOf(call)
    if (spec instanceof Failure) return spec
    return call.server.registry.create(call.name(1), spec).then(() => OK)
  },
})

const explain = definePlain({
  name: 'SIEVE.EXPLAIN',
  syntax: 'name url',
  does: 'The key of a URL, what each rule did, and its verdict; marks nothing',
  returns: 'names and values',
  group: 'sieve',
  flags: ['readonly'],
  run: on(async (sieve, call) => {
    const url = call.text(2)
    checkExplained(url)
    sieve.meters.asks++
    return tableOf(await sieve.explain(url))
  }),
})

const under = definePlain({
  name: 'SIEVE.UNDER',
  syntax: 'name folder',
  does: 'Whether anything was seen under a host or folder; errs towards 1',
  returns: '1 or 0',
  group: 'sieve',
  flags: ['readonly'],
  run: on(async (sieve, call) => {
    const filter = (await sieve.stats()).filter
    if (!sieve.under) {
      return new Failure(`ERR filter '${filter}' does not remember folders: FILTER prefix-layers does`)
    }
    sieve.meters.asks++
    return await sieve.under(call.text(2))
  }),
})

const forget = definePlain({
  name: 'SIEVE.FORGET',
  syntax: 'name url [url ...]',
  does: 'Forgets URLs: 1 for each that was remembered',
  returns: 'an array: 1 was remembered (FILTER fingerprint), 0 not',
  group: 'sieve',
  flags: ['write'],
  run: on(async (sieve, call) => {
    if (!sieve.forget) {
      const { filter } = await sieve.stats()
      return new Failure(`ERR filter '${filter}' cannot forget: FILTER fingerprint can`)
    }
    const urls = await textsFrom(call, 2)
    if (!urls) return new Failure('ERR a URL is no UTF-8: expected text')
    try {
      return new Verdicts(await sieve.forget(urls), 'verdicts')
    } catch (error) {
      const { answered } = error as { answered?: Uint8Array }
      if (!answered) throw error
      return new Verdicts(answered, 'verdicts', failureOf(error))
    }
  }),
})

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

const stats = definePlain({
  name: 'SIEVE.STATS',
  syntax: 'name',
  does: 'Counts, size, fill and expected rate of a sieve',
  returns: 'names and values',
  group: 'sieve',
  flags: ['readonly'],
  run: on(async (sieve, call) => {
    const { name, kind, createdAt, expiresAt, meters } = sieve
    const faults = call.server.registry.faults.of(name)
    const times = { createdAt, ...(expiresAt !== undefined && { expiresAt: expiryDate(expiresAt) }) }
    return tableOf({ name, kind, ...times, ...(await sieve.stats()), meters: { ...meters }, faults })
  }),
})

const save = definePlain({
  name: 'SIEVE.SAVE',
  syntax: 'name',
  does: 'Folds the log of a sieve into its snapshot, on the disk; without --data there is nothing to do',
  returns: 'OK',
  group: 'sieve',
  flags: ['write'],
  run: on(async (sieve) => {
    await sieve.save()
    return OK
  }),
})

export const sieveCommands: readonly Command[] = [create, adding, asking, explain, under, forget, stats, save]
