// The names of the sieves: SCAN in steps, KEYS in one reply, RANDOMKEY, DBSIZE.
import { Pace } from '../../store/pace.ts'
import { nameBytes } from '../names.ts'
import type { ServedSieve } from '../registry.ts'
import { type Call, type Command, definePlain, NOT_INTEGER, SYNTAX, wholeOf } from './command.ts'
import { typeOf } from './key-commands.ts'
import { matcherOf } from './pattern.ts'
import { Failure, type Reply } from './replies.ts'

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
/** Names matched between two looks at the clock. */
const STEP = 64

const scan = definePlain({
  name: 'SCAN',
  syntax: 'cursor:integer [MATCH pattern] [COUNT count:integer] [TYPE type]',
  does: 'The names of the sieves, in steps',
  returns: 'the next cursor, 0 after the last step, and names',
  group: 'generic',
  flags: ['readonly'],
  run(call) {
    const cursor = cursorOf(call.text(1))
    if (cursor === null) return INVALID_CURSOR
    const options = scanOptions(call)
    if (options instanceof Failure) return options
    const all = call.server.registry.list()
    for (const sieve of all) numberOf(sieve)
    const rest = all.filter((sieve) => numberOf(sieve) > cursor)
    rest.sort((a, b) => numberOf(a) - numberOf(b))
    const some = rest.slice(0, options.count)
    const next = some.length < rest.length ? numberOf(some.at(-1)!) : 0
    const names = some
      .filter((sieve) => options.type === undefined || typeOf(call, sieve).toUpperCase() === options.type)
      .map((sieve) => nameBytes(sieve.name))
      .filter(options.isMatch)
    return [String(next), names]
  },
})

/** A cursor as Redis parses it, with strtoul: -1 is 2^64 - 1. */
function cursorOf(text: string): number | null {
  if (!/^[+-]?\d+$/.test(text)) return null
  const size = BigInt(text.replace(/^[+-]/, ''))
  if (BigInt.asUintN(64, size) !== size) return null
  return Number(BigInt.asUintN(64, text.startsWith('-') ? -size : size))
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
      if (count === null) return NOT_INTEGER
      if (count < 1) return SYNTAX
      options.count = count
    } else if (word === 'MATCH') {
      const isMatch = patternAt(call, i + 1)
      if (isMatch instanceof Failure) return isMatch
      options.isMatch = isMatch
    } else if (word === 'TYPE') options.type = call.word(i + 1)
    else return SYNTAX
  }
  return options
}

function patternAt(call: Call, i: number): ((name: Uint8Array) => boolean) | Failure {
  const pattern = call.bytes(i)
  if (pattern.length <= MOST_PATTERN_BYTES) return matcherOf(pattern)
  return new Failure(`ERR a pattern of ${pattern.length} bytes: expected at most ${MOST_PATTERN_BYTES}`)
}

const keys = definePlain({
  name: 'KEYS',
  syntax: 'pattern',
  does: 'The names of the sieves that match a pattern',
  returns: 'an array of names',
  group: 'generic',
  flags: ['readonly'],
  async run(call) {
    const isMatch = patternAt(call, 1)
    if (isMatch instanceof Failure) return isMatch
    const pace = new Pace()
    const names: Reply[] = []
    for (const [i, sieve] of call.server.registry.list().entries()) {
      const name = nameBytes(sieve.name)
      if (isMatch(name)) names.push(name)
      if (i % STEP === 0) await pace.rest()
    }
    return names
  },
})

const randomkey = definePlain({
  name: 'RANDOMKEY',
  syntax: '',
  does: 'The name of a sieve chosen at random',
  returns: 'a name, or nil when there is none',
  group: 'generic',
  flags: ['readonly'],
  run({ server: { registry } }) {
    const all = registry.list()
    const one = all[Math.floor(Math.random() * all.length)]
    return one ? nameBytes(one.name) : null
  },
})

const dbsize = definePlain({
  name: 'DBSIZE',
  syntax: '',
  does: 'The number of sieves',
  returns: 'a number',
  group: 'generic',
  flags: ['readonly', 'fast'],
  run: (call) => call.server.registry.list().length,
})

export const scanCommands: readonly Command[] = [scan, keys, randomkey, dbsize]
