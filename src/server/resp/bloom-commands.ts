// BF.*: RedisBloom's commands, with the replies and error texts of Redis 8. Items are compared byte by byte.
import { asideOf } from '../faults.ts'
import { countAdds } from '../meters.ts'
import type { BloomSpec, ServedSieve } from '../registry.ts'
import {
  type Call,
  type Command,
  failureOf,
  type ItemsCommand,
  NOT_FOUND,
  type PlainCommand,
  WRONG_TYPE,
  wholeOf,
  wrongArity,
} from './command.ts'
import { itemsFrom } from './items.ts'
import { Failure, OK, type Reply, Simple, Table } from './replies.ts'

/** RedisBloom's parameters for a filter that an add creates. */
const DEFAULTS: BloomSpec = { capacity: 100, errorRate: 0.01, expansion: 2 }
const MOST_CAPACITY = 2 ** 30
const MOST_EXPANSION = 32_768

/** The Bloom filter that the call names; undefined when there is none. */
export function bloomAt(call: Call): ServedSieve | Failure | undefined {
  const { registry } = call.server
  const name = call.name(1)
  const sieve = registry.get(name)
  if (sieve) return sieve.kind === 'bloom' ? sieve : WRONG_TYPE
  const aside = asideOf(registry.faults, name)
  return aside === undefined ? undefined : new Failure(`ERR ${aside}`)
}

/** The existing filter, or a new one with memory for `items`. Concurrent calls get the same filter. */
async function obtain(call: Call, spec: BloomSpec, items: number): Promise<ServedSieve> {
  const { registry } = call.server
  const name = call.name(1)
  let created: ServedSieve
  try {
    created = await registry.create(name, {}, spec)
  } catch (error) {
    const there = registry.get(name)
    if (there?.kind === 'bloom') return there
    throw error
  }
  try {
    created.reserve?.(items)
    return created
  } catch (error) {
    // The items will be refused: do not leave an empty filter behind.
    await registry.drop(name)
    throw error
  }
}

const adding = (name: string, isMany: boolean): ItemsCommand => ({
  name,
  arity: isMany ? -3 : 3,
  does: isMany ? 'Marks items: 1 for each that is new' : 'Marks an item: 1 when it is new',
  flags: ['write', 'denyoom'],
  key: 1,
  act: 'add',
  isMany,
  open: (call) => bloomAt(call) ?? obtain(call, DEFAULTS, call.count - 2),
})

const asking = (name: string, isMany: boolean): ItemsCommand => ({
  name,
  arity: isMany ? -3 : 3,
  does: isMany ? 'Whether items were seen; errs towards 1' : 'Whether an item was seen; errs towards 1',
  flags: ['readonly', 'fast'],
  key: 1,
  act: 'has',
  isMany,
  open(call) {
    const found = bloomAt(call)
    return found === WRONG_TYPE ? null : (found ?? null)
  },
})

function rateOf(text: string): number | null {
  const value = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i.test(text) ? Number(text) : Number.NaN
  return Number.isNaN(value) ? null : value
}

const isRate = (rate: number) => rate > 0 && rate < 1
const isCapacity = (capacity: number) => capacity >= 1 && capacity <= MOST_CAPACITY
const isExpansion = (expansion: number) => expansion >= 0 && expansion <= MOST_EXPANSION

/** The index of an option's word, or -1. */
function placeOf(call: Call, word: string): number {
  for (let i = 4; i < call.count; i++) if (call.word(i) === word) return i
  return -1
}

const reserve: PlainCommand = {
  name: 'BF.RESERVE',
  arity: -4,
  does: 'Creates a filter: error rate, capacity, EXPANSION or NONSCALING',
  flags: ['write', 'denyoom'],
  key: 1,
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
    const found = bloomAt(call)
    if (found) return found instanceof Failure ? found : new Failure('ERR item exists')
    return call.server.registry.create(call.name(1), {}, { capacity, errorRate, expansion }).then(() => OK)
  },
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

const insert: PlainCommand = {
  name: 'BF.INSERT',
  arity: -4,
  does: 'Marks items, and creates their filter if necessary: CAPACITY, ERROR, EXPANSION, NOCREATE, NONSCALING, ITEMS',
  flags: ['write', 'denyoom'],
  key: 1,
  run(call) {
    const insertion = insertionOf(call)
    if (insertion instanceof Failure) return insertion
    const found = bloomAt(call)
    if (found instanceof Failure) return found
    if (found) return addAll(found, call, insertion.from)
    if (!insertion.createsFilter) return NOT_FOUND
    return obtain(call, insertion.spec, call.count - insertion.from).then((created) =>
      addAll(created, call, insertion.from),
    )
  },
}

async function addAll(sieve: ServedSieve, call: Call, from: number): Promise<Reply> {
  const items = itemsFrom(call, from)
  const isThree = call.client.version === 3
  const repliesFor = (verdicts: Uint8Array): Reply[] => {
    countAdds(sieve.meters, verdicts)
    return Array.from(verdicts, (verdict) => (isThree ? verdict === 1 : verdict))
  }
  try {
    return repliesFor(await sieve.add(items))
  } catch (error) {
    const answered = (error as { answered?: Uint8Array }).answered ?? new Uint8Array(0)
    return [...repliesFor(answered), failureOf(error)]
  }
}

const card: PlainCommand = {
  name: 'BF.CARD',
  arity: 2,
  does: 'The number of distinct items marked',
  flags: ['readonly', 'fast'],
  key: 1,
  async run(call) {
    const found = bloomAt(call)
    if (found instanceof Failure) return found
    return found ? (await found.stats()).urls : 0
  },
}

/** Capacity and sub-filters as RedisBloom would report them for this expansion and number of items. */
function growth({ capacity, expansion }: BloomSpec, items: number): { capacity: number; filters: number } {
  let [total, next, filters] = [capacity, capacity, 1]
  while (items > total && expansion > 0) {
    next *= expansion
    // With an expansion of 1 there may be millions of sub-filters: they are counted in one step.
    const times = expansion === 1 ? Math.ceil((items - total) / next) : 1
    total += next * times
    filters += times
  }
  return { capacity: total, filters }
}

const info: PlainCommand = {
  name: 'BF.INFO',
  arity: -2,
  does: 'Capacity, size, sub-filters, items and expansion: all fields, or one by name',
  flags: ['readonly', 'fast'],
  key: 1,
  async run(call) {
    if (call.count > 3) return wrongArity(this.name)
    const field = call.count === 3 ? call.word(2) : undefined
    const found = bloomAt(call)
    if (!found) return NOT_FOUND
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
}

export const bloomCommands: readonly Command[] = [
  reserve,
  adding('BF.ADD', false),
  adding('BF.MADD', true),
  asking('BF.EXISTS', false),
  asking('BF.MEXISTS', true),
  insert,
  card,
  info,
]
