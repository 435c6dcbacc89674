// All commands by name.
import { bloomCommands } from './bloom-commands.ts'
import { clientCommands } from './client-commands.ts'
import type { Command } from './command.ts'
import { dumpCommands } from './dump-commands.ts'
import { keyCommands } from './key-commands.ts'
import { serverCommands } from './server-commands.ts'
import { sieveCommands } from './sieve-commands.ts'
import { transactionCommands } from './transaction-commands.ts'

export const commands: ReadonlyMap<string, Command> = new Map(
  [
    ...bloomCommands,
    ...dumpCommands,
    ...sieveCommands,
    ...clientCommands,
    ...keyCommands,
    ...transactionCommands,
    ...serverCommands(() => commands),
  ].map((command) => [command.name, command]),
)
