// `urlsieve export`: the keys of a store that keeps them.
import type { Command } from 'commander'
import { STATE } from '../state.ts'
import { checkKeepsKeys, storedKeys } from '../store/stored-keys.ts'
import { CommandError, EXIT } from './exit.ts'
import { Output } from './output.ts'
import { isDiskSieve, isFolder, openStored } from './stored.ts'

const NEWLINE = Buffer.of(10)

export function exportCommand(program: Command): void {
  program
    .command('export')
    .summary('list the keys of a store that keeps them')
    .description(
      'Prints every key, one per line, in the order in which they were added. Needs a store created with --keep-keys. ' +
        'Of a disk sieve, which keeps no keys, its hashes: 16 hexadecimal digits each.',
    )
    .argument('<path>', 'the folder of a store')
    .option('-o, --output <file>', 'write here instead of stdout')
    .addHelpText('after', '\nExample:\n  urlsieve export seen > keys.txt')
    .action(exportKeys)
}

async function exportKeys(path: string, flags: { output?: string }): Promise<void> {
  if (isDiskSieve(path)) return exportHashes(path, flags.output)
  const sieve = await openStored(path)
  if (isFolder(path)) {
    checkKeepsKeys(path, sieve)
    print(storedKeys(path), flags.output)
    return
  }
  const [shard] = sieve[STATE].shards.all
  if (!shard!.filter.keys) {
    throw new CommandError(
      EXIT.usage,
      `${path} keeps no keys: filter '${sieve.plan.filter}' remembers only hashes or bits`,
    )
  }
  print(shard!.filter.keys(), flags.output)
}

function print(keys: Iterable<Uint8Array>, path: string | undefined): void {
  const output = new Output(path)
  let parts: Uint8Array[] = []
  for (const key of keys) {
    parts.push(Buffer.from(key), NEWLINE)
    if (parts.length < 20_000) continue
    output.write(Buffer.concat(parts))
    parts = []
  }
  output.write(Buffer.concat(parts))
  output.close()
}

// A disk sieve has hashes only.
async function exportHashes(path: string, to: string | undefined): Promise<void> {
  const { storedHashes } = await import('../disk/run-hashes.ts')
  const output = new Output(to)
  for await (const hashes of storedHashes(path)) {
    let text = ''
    for (const hash of hashes) text += `${hash.toString(16).padStart(16, '0')}\n`
    output.print(text)
  }
  output.close()
}
