// Sieves as Redis keys: EXISTS, DEL, TYPE, SCAN, DBSIZE.

import { nameBytes } from '../names.ts'
import type { ServedSieve } from '../registry.ts'
import { type Call, type Command, type PlainCommand, SYNTAX, wholeOf } from './command.ts'
import { matcherOf } from './pattern.ts'
import { Failure, Simple } from './replies.ts'

const typeOf = (sieve: ServedSieve) => (sieve.kind === 'bloom' ? 'MBbloom--' : 'sieve')

const exists: PlainCommand = {
  name: 'EXISTS',
  arity: -2,
  does: 'The number of these sieves that exist',
  flags: ['readonly', 'fast'],
  key: 1,
  run(call) {
    let there = 0
    for (let i = 1; i < call.count; i++) if (call.server.registry.get(call.name(i))) there++
    return there
  },
}

const del: PlainCommand = {
  name: 'DEL',
  arity: -2,
  does: 'Drops sieves and everything they remember',
  flags: ['write'],
  key: 1,
  async run(call) {
    let dropped = 0
    for (let i = 1; i < call.count; i++) if (await call.server.registry.drop(call.name(i))) dropped++
    return dropped
  },
}

const type: PlainCommand = {
  name: 'TYPE',
  arity: 2,
  does: 'MBbloom-- for a filter of BF.*, sieve for one of SIEVE.*, or none',
  flags: ['readonly', 'fast'],
  key: 1,
  run(call) {
    const sieve = call.server.registry.get(call.name(1))
    return new Simple(sieve ? typeOf(sieve) : 'none')
  },
}

const dbsize: PlainCommand = {
  name: 'DBSIZE',
  arity: 1,
  does: 'The number of sieves',
  flags: ['readonly', 'fast'],
  run: (call) => call.server.registry.list().length,
}

/** Numbers in order of creation: a cursor is the number of the last sieve returned, so a drop moves no other sieve. */
const numbers = new WeakMap<ServedSieve, number>()
let last = 0

function numberOf(sieve: ServedSieve): number {
  let number = numbers.get(sieve)
  if (number === undefined) {
    number = ++last
    numbers.set(sieve, number)
  }
  return number
}

const MOST_PATTERN_BYTES = 256
const INVALID_CURSOR = new Failure('ERR invalid cursor')

const scan: PlainCommand = {
  name: 'SCAN',
  arity: -2,
  does: 'The names of the sieves, in steps: MATCH, COUNT, TYPE',
  flags: ['readonly'],
  run(call) {
    const cursor = wholeOf(call.text(1))
    if (cursor === null || cursor < 0) return INVALID_CURSOR
    const options = scanOptions(call)
    if (options instanceof Failure) return options
    const all = call.server.registry.list()
    for (const sieve of all) numberOf(sieve)
    const rest = all.filter((sieve) => numberOf(sieve) > cursor)
    rest.sort((a, b) => numberOf(a) - numberOf(b))
    const some = rest.slice(0, options.count)
    const next = some.length < rest.length ? numberOf(some.at(-1)!) : 0
    const names = some
      .filter((sieve) => options.type === undefined || typeOf(sieve).toUpperCase() === options.type)
      .map((sieve) => nameBytes(sieve.name))
      .filter(options.isMatch)
    return [String(next), names]
  },
}

interface ScanOptions {
  count: number
  type?: string
  isMatch(name: Buffer): boolean
}

function scanOptions(call: Call): ScanOptions | Failure {
  const options: ScanOptions = { count: 10, isMatch: () => true }
  for (let i = 2; i < call.count; i += 2) {
    if (i + 1 === call.count) return SYNTAX
    const word = call.word(i)
    if (word === 'COUNT') {
      const count = wholeOf(call.text(i + 1))
      if (count === null) return new Failure('ERR value is not an integer or out of range')
      if (count < 1) return SYNTAX
      options.count = count
    } else if (word === 'MATCH') {
      const pattern = call.bytes(i + 1)
      if (pattern.length > MOST_PATTERN_BYTES) {
        return new Failure(`ERR a pattern of ${pattern.length} bytes: expected at most ${MOST_PATTERN_BYTES}`)
      }
      options.isMatch = matcherOf(pattern)
    } else if (word === 'TYPE') options.type = call.word(i + 1)
    else return SYNTAX
  }
  return options
}

export const keyCommands: readonly Command[] = [exists, del, type, dbsize, scan]
