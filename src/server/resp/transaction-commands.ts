// MULTI, EXEC, DISCARD, WATCH and UNWATCH, with the replies of Redis. The command loop queues the commands in between.
import type { Command, PlainCommand } from './command.ts'
import { Failure, OK } from './replies.ts'

const multi: PlainCommand = {
  name: 'MULTI',
  arity: 1,
  does: 'Begins a transaction: commands are queued until EXEC',
  flags: ['fast'],
  isImmediate: true,
  needsNoDatabase: true,
  run({ client: { transaction } }) {
    if (transaction.isOpen) return new Failure('ERR MULTI calls can not be nested')
    transaction.open()
    return OK
  },
}

const exec: PlainCommand = {
  name: 'EXEC',
  arity: 1,
  does: 'Executes the queued commands, or none after an error or a change of a watched sieve',
  isImmediate: true,
  needsNoDatabase: true,
  run({ client: { transaction }, server: { registry, limits } }) {
    return transaction.isOpen ? transaction.exec(registry, limits) : new Failure('ERR EXEC without MULTI')
  },
}

const discard: PlainCommand = {
  name: 'DISCARD',
  arity: 1,
  does: 'Discards the transaction',
  flags: ['fast'],
  isImmediate: true,
  needsNoDatabase: true,
  run({ client: { transaction } }) {
    if (!transaction.isOpen) return new Failure('ERR DISCARD without MULTI')
    transaction.close()
    return OK
  },
}

const SHARED = new Failure(
  'ERR WATCH is not possible with --redis: other servers change the same sieves unseen by this one',
)

const watch: PlainCommand = {
  name: 'WATCH',
  arity: -2,
  does: 'Makes EXEC do nothing if one of these sieves changes before it',
  flags: ['readonly', 'fast'],
  key: 1,
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
}

const unwatch: PlainCommand = {
  name: 'UNWATCH',
  arity: 1,
  does: 'Stops watching',
  flags: ['readonly', 'fast'],
  needsNoDatabase: true,
  run({ client: { transaction } }) {
    transaction.unwatch()
    return OK
  },
}

export const transactionCommands: readonly Command[] = [multi, exec, discard, watch, unwatch]
