// BF.RESERVE, BF.INSERT, BF.INFO and BF.LOAD with the arguments, replies and error texts of valkey-bloom.
import type { BloomSpec } from '../registry.ts'
import { create, INFO, INSERT, insertAll, RESERVE } from './bloom-commands.ts'
import { DEFAULTS, existingAt, growth, MOST_CAPACITY, rateOf } from './bloom-filters.ts'
import { type Call, type Command, definePlain, wholeOf, wrongArity } from './command.ts'
import { loadWhole } from './dump-commands.ts'
import { Failure, type Reply, Simple } from './replies.ts'

const MOST_EXPANSION = 2 ** 32 - 1
/** The ratio of the rates of two successive sub-filters. */
const TIGHTENING = 0.5
/** The least rate of a sub-filter: the least normal number of 64 bits. */
const LEAST_RATE = 2 ** -1022
/** The memory limit of one filter where there is no limit for all. */
const DEFAULT_LIMIT_BYTES = 128 * 1024 * 1024

const UNKNOWN = new Failure('ERR unknown argument received')

function rateAt(call: Call, i: number): number | Failure {
  const rate = rateOf(call.text(i))
  if (rate === null) return new Failure('ERR bad error rate')
  return rate > 0 && rate < 1 ? rate : new Failure('ERR (0 < error rate range < 1)')
}

function capacityAt(call: Call, i: number): number | Failure {
  const capacity = wholeOf(call.text(i))
  if (capacity === 0) return new Failure('ERR (capacity should be larger than 0)')
  const isGood = capacity !== null && capacity >= 1 && capacity <= MOST_CAPACITY
  return isGood ? capacity : new Failure('ERR bad capacity')
}

function expansionAt(call: Call, i: number): number | Failure {
  const expansion = wholeOf(call.text(i))
  const isGood = expansion !== null && expansion >= 1 && expansion <= MOST_EXPANSION
  return isGood ? expansion : new Failure('ERR bad expansion')
}

const reserve = definePlain({
  ...RESERVE,
  syntax: 'key error_rate:double capacity:integer [EXPANSION expansion:integer | NONSCALING]',
  run(call) {
    if (call.count > 6) return wrongArity(this.name)
    const errorRate = rateAt(call, 2)
    if (errorRate instanceof Failure) return errorRate
    const capacity = capacityAt(call, 3)
    if (capacity instanceof Failure) return capacity
    let expansion: number | Failure = DEFAULTS.expansion
    if (call.count > 4) {
      const word = call.word(4)
      if (word === 'NONSCALING' && call.count === 5) expansion = 0
      else if (word === 'EXPANSION' && call.count === 6) expansion = expansionAt(call, 5)
      else return new Failure('ERROR')
    }
    if (expansion instanceof Failure) return expansion
    return create(call, { capacity, errorRate, expansion })
  },
})

// valkey-bloom accepts these two from its own replication only.
const OWN_KEY =
  'ERR SEED is not possible: each filter has a secret key of its own, which urlsieve chooses at random'
const OWN_RATIO =
  'ERR TIGHTENING is not possible: the rate of a filter holds for all its sub-filters together, which urlsieve divides itself'

type Values = { -readonly [K in keyof BloomSpec]: BloomSpec[K] } & { scaleTo?: number }

/** Each option with a value: reads it, or returns the error. */
const VALUES: Readonly<Record<string, (call: Call, i: number, values: Values) => Failure | null>> = {
  ERROR: (call, i, values) => put(values, 'errorRate', rateAt(call, i)),
  CAPACITY: (call, i, values) => put(values, 'capacity', capacityAt(call, i)),
  EXPANSION: (call, i, values) => put(values, 'expansion', expansionAt(call, i)),
  VALIDATESCALETO: (call, i, values) => put(values, 'scaleTo', capacityAt(call, i)),
  SEED: (call, i) => new Failure(call.bytes(i).length === 32 ? OWN_KEY : 'ERR invalid seed'),
  TIGHTENING(call, i) {
    const ratio = rateOf(call.text(i))
    if (ratio === null) return new Failure('ERR bad tightening ratio')
    return new Failure(ratio > 0 && ratio < 1 ? OWN_RATIO : 'ERR (0 < tightening ratio range < 1)')
  },
}

function put(values: Values, name: keyof Values, value: number | Failure): Failure | null {
  if (value instanceof Failure) return value
  values[name] = value
  return null
}

const insert = definePlain({
  ...INSERT,
  syntax:
    'key [CAPACITY capacity:integer] [ERROR fp_rate:double] [EXPANSION expansion:integer] [NOCREATE] [NONSCALING] [TIGHTENING ratio:double] [SEED seed] [VALIDATESCALETO capacity:integer] [ITEMS item [item ...]]',
  run(call) {
    const values: Values = { ...DEFAULTS }
    let createsFilter = true
    let i = 2
    let hasItems = false
    for (; i < call.count && !hasItems; i++) {
      const word = call.word(i)
      const read = Object.hasOwn(VALUES, word) ? VALUES[word] : undefined
      if (word === 'ITEMS') hasItems = true
      else if (word === 'NOCREATE') createsFilter = false
      else if (word === 'NONSCALING') values.expansion = 0
      else if (!read) return UNKNOWN
      else if (++i === call.count) return wrongArity(this.name)
      else {
        const wrong = read(call, i, values)
        if (wrong) return wrong
      }
    }
    if (hasItems && i === call.count) return wrongArity(this.name)
    const { scaleTo, ...spec } = values
    const wrong = scaleTo === undefined ? null : checkScale(spec, scaleTo, limitOf(call))
    return wrong ?? insertAll(call, { spec, createsFilter, from: i })
  },
})

const limitOf = (call: Call) => call.server.registry.limitBytes ?? DEFAULT_LIMIT_BYTES

function checkScale(spec: BloomSpec, scaleTo: number, limitBytes: number): Failure | null {
  if (spec.expansion === 0) {
    return new Failure('ERR cannot use NONSCALING and VALIDATESCALETO options together')
  }
  const { capacity, isRateTooSmall } = mostCapacity(spec, limitBytes, scaleTo)
  if (capacity >= scaleTo) return null
  const why = isRateTooSmall ? 'false positive to degrade to 0' : 'bloom object to exceed memory limit'
  return new Failure(`ERR provided VALIDATESCALETO causes ${why}`)
}

/** The capacity of all sub-filters together that fit into the memory, or the first one from `enough` on. */
function mostCapacity(
  { capacity: first, errorRate, expansion }: BloomSpec,
  limitBytes: number,
  enough = Number.MAX_SAFE_INTEGER,
): { capacity: number; isRateTooSmall: boolean } {
  let [capacity, next, rate, bytes] = [0, first, errorRate, 0]
  while (capacity < enough) {
    const isRateTooSmall = rate < LEAST_RATE
    bytes += (-next * Math.log(rate)) / Math.LN2 ** 2 / 8
    if (isRateTooSmall || bytes > limitBytes) return { capacity, isRateTooSmall }
    capacity += next
    next *= expansion
    rate *= TIGHTENING
  }
  return { capacity, isRateTooSmall: false }
}

const info = definePlain({
  ...INFO,
  syntax: 'key [CAPACITY | SIZE | FILTERS | ITEMS | ERROR | EXPANSION | TIGHTENING | MAXSCALEDCAPACITY]',
  returns: 'names and values; for one field its value',
  async run(call) {
    if (call.count > 3) return wrongArity(this.name)
    const found = existingAt(call)
    if (found instanceof Failure) return found
    const spec = found.bloom!
    const { urls, sizeBytes } = await found.stats()
    const { capacity, filters } = growth(spec, urls)
    const rows: (readonly [word: string, label: string, value: Reply])[] = [
      ['CAPACITY', 'Capacity', capacity],
      ['SIZE', 'Size', sizeBytes],
      ['FILTERS', 'Number of filters', filters],
      ['ITEMS', 'Number of items inserted', urls],
      ['ERROR', 'Error rate', spec.errorRate],
      ['EXPANSION', 'Expansion rate', spec.expansion || null],
    ]
    if (spec.expansion > 0) {
      rows.push(['TIGHTENING', 'Tightening ratio', TIGHTENING])
      const most = mostCapacity(spec, limitOf(call)).capacity
      rows.push(['MAXSCALEDCAPACITY', 'Max scaled capacity', most])
    }
    if (call.count === 2) return rows.flatMap(([, label, value]) => [new Simple(label), value])
    const row = rows.find(([word]) => word === call.word(2))
    return row ? row[2] : new Failure('ERR invalid information value')
  },
})

const load = definePlain({
  name: 'BF.LOAD',
  syntax: 'key data',
  does: 'Restores a filter from the chunks of BF.SCANDUMP, joined',
  returns: 'OK',
  group: 'bf',
  flags: ['write', 'denyoom'],
  run: (call) => loadWhole(call),
})

export const valkeyBloomCommands: readonly Command[] = [reserve, insert, info, load]
