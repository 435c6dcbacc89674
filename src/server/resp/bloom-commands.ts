// BF.*: RedisBloom's commands, with the replies and error texts of Redis 8. Items are compared byte by byte.
import type { BloomSpec } from '../registry.ts'
import { addAll, bloomAt, DEFAULTS, existingAt, growth, MOST_CAPACITY, rateOf } from './bloom-filters.ts'
import {
  type Call,
  type Command,
  defineItems,
  definePlain,
  type ItemsCommand,
  NOT_FOUND,
  WRONG_TYPE,
  wholeOf,
  wrongArity,
} from './command.ts'
import type { Dialect } from './dialect.ts'
import { obtain } from './obtain.ts'
import { Failure, OK, type Reply, Simple, Table } from './replies.ts'

const MOST_EXPANSION = 32_768

const adding = (name: string, isMany: boolean, { form }: Dialect): ItemsCommand =>
  defineItems({
    name,
    syntax: isMany ? 'key item [item ...]' : 'key item',
    does: isMany ? 'Marks items: 1 for each that is new' : 'Marks an item: 1 when it is new',
    returns: isMany ? 'an array: 1 new, 0 seen' : '1 new, 0 seen',
    group: 'bf',
    flags: ['write', 'denyoom'],
    act: 'add',
    isMany,
    form,
    open: (call) => bloomAt(call) ?? obtain(call, DEFAULTS, call.count - 2),
  })

const querying = (name: string, isMany: boolean, { form, name: dialect }: Dialect): ItemsCommand =>
  defineItems({
    name,
    syntax: isMany ? 'key item [item ...]' : 'key item',
    does: isMany ? 'Whether items were seen; errs towards 1' : 'Whether an item was seen; errs towards 1',
    returns: isMany ? 'an array: 1 seen, 0 not' : '1 seen, 0 not',
    group: 'bf',
    flags: ['readonly', 'fast'],
    act: 'has',
    isMany,
    form,
    open(call) {
      const found = bloomAt(call)
      // RedisBloom answers 0 for a key of another type.
      return found === WRONG_TYPE && dialect === 'redis' ? null : (found ?? null)
    },
  })

const isRate = (rate: number) => rate > 0 && rate < 1
const isCapacity = (capacity: number) => capacity >= 1 && capacity <= MOST_CAPACITY
const isExpansion = (expansion: number) => expansion >= 0 && expansion <= MOST_EXPANSION

/** The index of an option's word, or -1. */
function placeOf(call: Call, word: string): number {
  for (let i = 4; i < call.count; i++) if (call.word(i) === word) return i
  return -1
}

export const RESERVE = {
  name: 'BF.RESERVE',
  does: 'Creates a filter',
  returns: 'OK',
  group: 'bf',
  flags: ['write', 'denyoom'],
} as const

const reserve = definePlain({
  ...RESERVE,
  syntax: 'key error_rate:double capacity:integer [EXPANSION expansion:integer] [NONSCALING]',
  run(call) {
    if (call.count > 7) return wrongArity(this.name)
    const errorRate = rateOf(call.text(2))
    if (errorRate === null) return new Failure('ERR bad error rate')
    if (!isRate(errorRate)) return new Failure('ERR error rate must be in the range (0.000000, 1.000000)')
    const capacity = wholeOf(call.text(3))
    if (capacity === null) return new Failure('ERR bad capacity')
    if (!isCapacity(capacity)) return new Failure(`ERR capacity must be in the range [1, ${MOST_CAPACITY}]`)
    const isFixed = placeOf(call, 'NONSCALING') >= 0
    const place = placeOf(call, 'EXPANSION')
    let expansion = isFixed ? 0 : DEFAULTS.expansion
    if (place >= 0) {
      if (place + 1 === call.count) return new Failure('ERR no expansion')
      const value = wholeOf(call.text(place + 1))
      if (value === null) return new Failure('ERR bad expansion')
      if (isFixed && value !== 0) return new Failure('Nonscaling filters cannot expand')
      if (!isExpansion(value)) return new Failure(`ERR expansion must be in the range [0, ${MOST_EXPANSION}]`)
      expansion = value
    }
    return create(call, { capacity, errorRate, expansion })
  },
})

/** Creates the filter unless there is one. */
export function create(call: Call, spec: BloomSpec): Reply | Promise<Reply> {
  const found = bloomAt(call)
  if (found) return found instanceof Failure ? found : new Failure('ERR item exists')
  return call.server.registry.create(call.name(1), {}, spec).then(() => OK)
}

interface Insertion {
  readonly spec: BloomSpec
  readonly createsFilter: boolean
  /** Index of the first item. */
  readonly from: number
}

function insertionOf(call: Call): Insertion | Failure {
  let { capacity, errorRate, expansion } = DEFAULTS
  let isFixed = false
  let createsFilter = true
  let i = 2
  for (; i < call.count; i++) {
    const word = call.word(i)
    if (word === 'ITEMS') break
    if (word === 'NOCREATE') createsFilter = false
    else if (word === 'NONSCALING') isFixed = true
    else if (word === 'ERROR' || word === 'CAPACITY' || word === 'EXPANSION') {
      if (++i === call.count) return wrongArity('BF.INSERT')
      const value = word === 'ERROR' ? rateOf(call.text(i)) : wholeOf(call.text(i))
      const isGood = { ERROR: isRate, CAPACITY: isCapacity, EXPANSION: isExpansion }[word]
      const named = { ERROR: 'error rate', CAPACITY: 'capacity', EXPANSION: 'expansion' }[word]
      if (value === null || !isGood(value)) return new Failure(`Bad ${named}`)
      if (word === 'ERROR') errorRate = value
      else if (word === 'CAPACITY') capacity = value
      else expansion = value
    } else return new Failure('Unknown argument received')
  }
  if (i + 1 >= call.count) return wrongArity('BF.INSERT')
  return { spec: { capacity, errorRate, expansion: isFixed ? 0 : expansion }, createsFilter, from: i + 1 }
}

export const INSERT = {
  name: 'BF.INSERT',
  does: 'Marks items, and creates their filter if necessary',
  returns: 'an array: 1 new, 0 seen',
  group: 'bf',
  flags: ['write', 'denyoom'],
} as const

const insert = definePlain({
  ...INSERT,
  syntax:
    'key [CAPACITY capacity:integer] [ERROR error:double] [EXPANSION expansion:integer] [NOCREATE] [NONSCALING] ITEMS item [item ...]',
  run(call) {
    const insertion = insertionOf(call)
    return insertion instanceof Failure ? insertion : insertAll(call, insertion)
  },
})

/** Marks the items of a checked insertion. */
export function insertAll(call: Call, { spec, createsFilter, from }: Insertion): Reply | Promise<Reply> {
  const found = bloomAt(call)
  if (found instanceof Failure) return found
  if (found) return addAll(found, call, from)
  if (!createsFilter) return NOT_FOUND
  return obtain(call, spec, call.count - from).then((created) => addAll(created, call, from))
}

const card = definePlain({
  name: 'BF.CARD',
  syntax: 'key',
  does: 'The number of distinct items marked',
  returns: 'a number; 0 for no such filter',
  group: 'bf',
  flags: ['readonly', 'fast'],
  async run(call) {
    const found = bloomAt(call)
    if (found instanceof Failure) return found
    return found ? (await found.stats()).urls : 0
  },
})

export const INFO = {
  name: 'BF.INFO',
  does: 'Capacity, size, sub-filters, items and expansion: all fields, or one',
  group: 'bf',
  flags: ['readonly', 'fast'],
} as const

const info = definePlain({
  ...INFO,
  syntax: 'key [CAPACITY | SIZE | FILTERS | ITEMS | EXPANSION]',
  returns: 'names and values; for one field an array with its value',
  async run(call) {
    if (call.count > 3) return wrongArity(this.name)
    const field = call.count === 3 ? call.word(2) : undefined
    const found = existingAt(call)
    if (found instanceof Failure) return found
    const { urls, sizeBytes } = await found.stats()
    const { capacity, filters } = growth(found.bloom!, urls)
    const rows: Record<string, readonly [Simple, Reply]> = {
      CAPACITY: [new Simple('Capacity'), capacity],
      SIZE: [new Simple('Size'), sizeBytes],
      FILTERS: [new Simple('Number of filters'), filters],
      ITEMS: [new Simple('Number of items inserted'), urls],
      EXPANSION: [new Simple('Expansion rate'), found.bloom!.expansion || null],
    }
    if (field === undefined) return new Table(Object.values(rows))
    const row = Object.hasOwn(rows, field) ? rows[field] : undefined
    if (!row) return new Failure('Invalid information value')
    return call.client.version === 3 ? new Table([row]) : [row[1]]
  },
})

const debug = definePlain({
  name: 'BF.DEBUG',
  syntax: 'key',
  does: 'The items and the structure of a filter',
  returns: 'lines of text',
  group: 'bf',
  flags: ['readonly'],
  async run(call) {
    const found = existingAt(call)
    if (found instanceof Failure) return found
    const { urls, sizeBytes, filter, fill, expectedRate } = await found.stats()
    const { capacity, errorRate } = found.bloom!
    return [
      `size:${urls}`,
      `bytes:${sizeBytes} filter:${filter} fill:${fill} rate:${expectedRate} capacity:${capacity} error:${errorRate}`,
    ].map((line) => new Simple(line))
  },
})

/** The commands that both dialects have, with the replies of one of them. */
export const sharedBloomCommands = (dialect: Dialect): readonly Command[] => [
  adding('BF.ADD', false, dialect),
  adding('BF.MADD', true, dialect),
  querying('BF.EXISTS', false, dialect),
  querying('BF.MEXISTS', true, dialect),
  card,
]

export const redisBloomCommands: readonly Command[] = [reserve, insert, info, debug]
