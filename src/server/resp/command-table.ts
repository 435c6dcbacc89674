// All commands by name, of each dialect.
import { redisBloomCommands, sharedBloomCommands } from './bloom-commands.ts'
import { clientCommands } from './client-commands.ts'
import type { Command } from './command.ts'
import { commandCommands } from './command-docs.ts'
import { configCommands } from './config-commands.ts'
import { connectionCommands } from './connection-commands.ts'
import { type DialectName, dialects } from './dialect.ts'
import { dumpCommands } from './dump-commands.ts'
import { expiryCommands } from './expiry-commands.ts'
import { infoCommands } from './info-command.ts'
import { keyCommands } from './key-commands.ts'
import { logCommands } from './log-commands.ts'
import { objectCommands } from './object-commands.ts'
import { repeatCommands } from './repeat-commands.ts'
import { scanCommands } from './scan-commands.ts'
import { serverCommands } from './server-commands.ts'
import { setCommands } from './set-commands.ts'
import { sieveCommands } from './sieve-commands.ts'
import { transactionCommands } from './transaction-commands.ts'
import { valkeyBloomCommands } from './valkey-bloom.ts'

const tableOf = (name: DialectName): ReadonlyMap<string, Command> =>
  new Map(
    [
      ...sharedBloomCommands(dialects[name]),
      ...(name === 'valkey' ? valkeyBloomCommands : redisBloomCommands),
      ...dumpCommands,
      ...setCommands,
      ...sieveCommands,
      ...repeatCommands,
      ...connectionCommands,
      ...clientCommands,
      ...keyCommands,
      ...expiryCommands,
      ...scanCommands,
      ...objectCommands,
      ...transactionCommands,
      ...commandCommands,
      ...infoCommands,
      ...configCommands,
      ...logCommands,
      ...serverCommands,
    ].map((command) => [command.name, command]),
  )

export const commandTables: Readonly<Record<DialectName, ReadonlyMap<string, Command>>> = {
  redis: tableOf('redis'),
  valkey: tableOf('valkey'),
}

/** Those of the dialect redis. */
export const commands = commandTables.redis
