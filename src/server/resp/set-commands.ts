// SADD and the commands that go with it, with the replies of Redis: a set is a sieve of 64-bit fingerprints, so its items can
// be added, queried, counted and removed, but not listed. They work on a sieve of SIEVE.CREATE too, under its profile.
import { asideOf } from '../faults.ts'
import type { ServedSieve } from '../registry.ts'
import { type Call, type Command, defineItems, definePlain, failureOf, WRONG_TYPE } from './command.ts'
import { obtain } from './obtain.ts'
import { Failure, type Reply } from './replies.ts'

/** The set that the call names; undefined when there is none. */
function setAt(call: Call): ServedSieve | Failure | undefined {
  const { registry } = call.server
  const name = call.name(1)
  const sieve = registry.get(name)
  if (sieve) return sieve.kind === 'bloom' ? WRONG_TYPE : sieve
  const aside = asideOf(registry.faults, name)
  return aside === undefined ? undefined : new Failure(`ERR ${aside}`)
}

const sadd = defineItems({
  name: 'SADD',
  syntax: 'key member [member ...]',
  does: 'Adds members; creates the set if necessary',
  returns: 'the number of members that are new',
  group: 'set',
  flags: ['write', 'denyoom', 'fast'],
  act: 'add',
  isMany: true,
  form: 'count',
  open: (call) => setAt(call) ?? obtain(call, 'set', call.count - 2),
})

const sismember = defineItems({
  name: 'SISMEMBER',
  syntax: 'key member',
  does: 'Whether a member is in the set',
  returns: '1 or 0',
  group: 'set',
  flags: ['readonly', 'fast'],
  act: 'has',
  isMany: false,
  form: 'integers',
  open: (call) => setAt(call) ?? null,
})

const smismember = defineItems({
  name: 'SMISMEMBER',
  syntax: 'key member [member ...]',
  does: 'Whether members are in the set',
  returns: 'an array of 1 or 0',
  group: 'set',
  flags: ['readonly', 'fast'],
  act: 'has',
  isMany: true,
  form: 'integers',
  open: (call) => setAt(call) ?? null,
})

const scard = definePlain({
  name: 'SCARD',
  syntax: 'key',
  does: 'The number of members',
  returns: 'a number; 0 for no such set',
  group: 'set',
  flags: ['readonly', 'fast'],
  async run(call) {
    const found = setAt(call)
    if (found instanceof Failure) return found
    return found ? (await found.stats()).urls : 0
  },
})

const srem = definePlain({
  name: 'SREM',
  syntax: 'key member [member ...]',
  does: 'Removes members; a set without members is dropped',
  returns: 'the number of members removed',
  group: 'set',
  flags: ['write', 'fast'],
  run(call) {
    const found = setAt(call)
    if (found instanceof Failure) return found
    return found ? removeAll(found, call) : 0
  },
})

async function removeAll(set: ServedSieve, call: Call): Promise<Reply> {
  if (!set.remove) {
    const { filter } = await set.stats()
    return new Failure(`ERR filter '${filter}' cannot forget: FILTER fingerprint can`)
  }
  let removed = 0
  try {
    for (const was of await set.remove(call.items(2))) removed += was
  } catch (error) {
    return failureOf(error)
  }
  if (set.kind !== 'set') return removed
  const stats = set.stats()
  const { urls } = stats instanceof Promise ? await stats : stats
  // In the turn in which it was found empty: nothing is added in between.
  const isEmpty = urls === 0 && call.server.registry.get(set.name) === set
  if (isEmpty && !call.server.registry.isShared) await call.server.registry.drop(set.name)
  return removed
}

export const setCommands: readonly Command[] = [sadd, srem, sismember, smismember, scard]
