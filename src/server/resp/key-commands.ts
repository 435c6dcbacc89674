// Sieves as Redis keys: whether they exist, their type, their names, and dropping them.

import { Pace } from '../../store/pace.ts'
import { asideOf } from '../faults.ts'
import { checkName } from '../names.ts'
import type { ServedSieve } from '../registry.ts'
import { type Call, type Command, definePlain, NO_KEY, SYNTAX } from './command.ts'
import { Failure, OK, type Reply, Simple } from './replies.ts'

/** What TYPE returns. */
export function typeOf(call: Call, { kind }: ServedSieve): string {
  return kind === 'bloom' ? call.server.dialect.bloomType : kind
}

/** The sieves that the arguments from 1 on name; a name that occurs twice counts twice. */
async function countKnown(call: Call): Promise<number> {
  const pace = new Pace()
  let known = 0
  for (let i = 1; i < call.count; i++) {
    if (call.server.registry.get(call.name(i))) known++
    if (pace.isOver) await pace.next()
  }
  return known
}

const exists = definePlain({
  name: 'EXISTS',
  syntax: 'key [key ...]',
  does: 'The number of these sieves that exist',
  returns: 'a number',
  group: 'generic',
  flags: ['readonly', 'fast'],
  run: countKnown,
})

const touch = definePlain({
  name: 'TOUCH',
  syntax: 'key [key ...]',
  does: 'The same; nothing is evicted here, so the time of the last access decides nothing',
  returns: 'a number',
  group: 'generic',
  flags: ['readonly', 'fast'],
  run: countKnown,
})

async function dropAll(call: Call): Promise<number> {
  const pace = new Pace()
  let dropped = 0
  for (let i = 1; i < call.count; i++) {
    if (await call.server.registry.drop(call.name(i))) dropped++
    if (pace.isOver) await pace.next()
  }
  return dropped
}

const del = definePlain({
  name: 'DEL',
  syntax: 'key [key ...]',
  does: 'Drops sieves and everything they remember',
  returns: 'the number of sieves dropped',
  group: 'generic',
  flags: ['write'],
  run: dropAll,
})

const unlink = definePlain({
  name: 'UNLINK',
  syntax: 'key [key ...]',
  does: 'The same as DEL, which blocks no other client either',
  returns: 'the number of sieves dropped',
  group: 'generic',
  flags: ['write', 'fast'],
  run: dropAll,
})

const type = definePlain({
  name: 'TYPE',
  syntax: 'key',
  does: 'The type: MBbloom-- (bloomfltr in the dialect valkey), set or sieve',
  returns: 'the type, or none',
  group: 'generic',
  flags: ['readonly', 'fast'],
  run(call) {
    const sieve = call.server.registry.get(call.name(1))
    return new Simple(sieve ? typeOf(call, sieve) : 'none')
  },
})

const UNABLE = new Failure('ERR RENAME is not possible with --redis: other servers use the same sieves')

async function rename(call: Call, isReplacing: boolean): Promise<Reply> {
  const { registry } = call.server
  const [from, to] = [call.name(1), call.name(2)]
  if (!registry.rename) return UNABLE
  checkName(to)
  const aside = asideOf(registry.faults, from)
  if (aside !== undefined) return new Failure(`ERR ${aside}`)
  if (!registry.get(from)) return NO_KEY
  if (!isReplacing && registry.get(to)) return 0
  if (!(await registry.rename(from, to, isReplacing))) return registry.get(from) ? 0 : NO_KEY
  return isReplacing ? OK : 1
}

const renameCommand = definePlain({
  name: 'RENAME',
  syntax: 'key newkey',
  does: 'Changes the name of a sieve; a sieve that has the new name is dropped',
  returns: 'OK',
  group: 'generic',
  flags: ['write'],
  run: (call) => rename(call, true),
})

const renamenx = definePlain({
  name: 'RENAMENX',
  syntax: 'key newkey',
  does: 'Changes the name of a sieve unless another sieve has the new name',
  returns: '1 done, 0 not',
  group: 'generic',
  flags: ['write', 'fast'],
  run: (call) => rename(call, false),
})

const FORBIDDEN = new Failure(
  'ERR FLUSHALL and FLUSHDB are not allowed: the sieves are kept on disk or on Redis; start the server with --allow-flush, or use DEL',
)

const flushing = (name: string) =>
  definePlain({
    name,
    syntax: '[ASYNC | SYNC]',
    does: 'Drops all sieves; with --data or --redis only if the server was started with --allow-flush',
    returns: 'OK when the last one is dropped',
    group: 'generic',
    flags: ['write'],
    async run(call) {
      if (call.count > 2) return SYNTAX
      if (call.count === 2 && !['ASYNC', 'SYNC'].includes(call.word(1))) return SYNTAX
      if (!call.server.allowsFlush) return FORBIDDEN
      await call.server.registry.dropAll()
      return OK
    },
  })

export const keyCommands: readonly Command[] = [
  exists,
  del,
  unlink,
  type,
  touch,
  renameCommand,
  renamenx,
  flushing('FLUSHALL'),
  flushing('FLUSHDB'),
]
