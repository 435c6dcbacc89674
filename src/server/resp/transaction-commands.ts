// MULTI, EXEC, DISCARD, WATCH and UNWATCH, with the replies of Redis. The command loop queues the commands in between.
import { type Command, definePlain } from './command.ts'
import { Failure, OK } from './replies.ts'

/** What MULTI and DISCARD have in common. */
const WITHOUT_ARGUMENTS = {
  syntax: '',
  returns: 'OK',
  group: 'transactions',
  flags: ['fast'],
  isImmediate: true,
  needsNoDatabase: true,
} as const

const multi = definePlain({
  ...WITHOUT_ARGUMENTS,
  name: 'MULTI',
  does: 'Begins a transaction: commands are queued until EXEC',
  run({ client: { transaction } }) {
    if (transaction.isOpen) return new Failure('ERR MULTI calls can not be nested')
    transaction.open()
    return OK
  },
})

const exec = definePlain({
  name: 'EXEC',
  syntax: '',
  does: 'Executes the queued commands, or none after an error or a change of a watched sieve',
  returns: 'an array of the replies; nil after a change of a watched sieve',
  group: 'transactions',
  isImmediate: true,
  needsNoDatabase: true,
  run({ client: { transaction }, server: { registry, limits } }) {
    return transaction.isOpen ? transaction.exec(registry, limits) : new Failure('ERR EXEC without MULTI')
  },
})

const discard = definePlain({
  ...WITHOUT_ARGUMENTS,
  name: 'DISCARD',
  does: 'Discards the transaction',
  run({ client: { transaction } }) {
    if (!transaction.isOpen) return new Failure('ERR DISCARD without MULTI')
    transaction.close()
    return OK
  },
})

const SHARED = new Failure(
  'ERR WATCH is not possible with --redis: other servers change the same sieves unseen by this one',
)

const watch = definePlain({
  name: 'WATCH',
  syntax: 'key [key ...]',
  does: 'Makes EXEC do nothing if one of these sieves changes before it',
  returns: 'OK',
  group: 'transactions',
  flags: ['readonly', 'fast'],
  isImmediate: true,
  run(call) {
    const { transaction } = call.client
    const { registry } = call.server
    if (transaction.isOpen) return new Failure('ERR WATCH inside MULTI is not allowed')
    if (registry.isShared) return SHARED
    transaction.watch(
      registry,
      Array.from({ length: call.count - 1 }, (_, i) => call.name(i + 1)),
    )
    return OK
  },
})

const unwatch = definePlain({
  name: 'UNWATCH',
  syntax: '',
  does: 'Stops watching',
  returns: 'OK',
  group: 'transactions',
  flags: ['readonly', 'fast'],
  needsNoDatabase: true,
  run({ client: { transaction } }) {
    transaction.unwatch()
    return OK
  },
})

export const transactionCommands: readonly Command[] = [multi, exec, discard, watch, unwatch]
