// `urlsieve forget`: makes URLs, or everything under a folder, new again.
import type { Command } from 'commander'
import { Sieve } from '../index.ts'
import { deleteKey } from '../merge.ts'
import { formatCounted } from '../quantities.ts'
import { STATE } from '../state.ts'
import { checkKeepsKeys, storedKeys } from '../store/stored-keys.ts'
import { CommandError, EXIT } from './exit.ts'
import { Output } from './output.ts'
import { isFolder } from './stored.ts'

interface Flags {
  state: string
  under?: string[]
}

export function forgetCommand(program: Command): void {
  program
    .command('forget')
    .summary('make URLs, or all under a folder, new again')
    .description(
      'Forgets URLs of a store whose filter can delete. With --under, everything below a host or folder: that needs ' +
        'a store made with --keep-keys.',
    )
    .argument('[urls...]', 'URLs')
    .requiredOption('--state <folder>', 'the folder of a store')
    .option('--under <folders...>', 'hosts or folders, such as example.com/blog/')
    .addHelpText('after', '\nExample:\n  urlsieve forget --state seen --under example.com/blog/')
    .action(forget)
}

async function forget(urls: string[], { state: path, under = [] }: Flags): Promise<void> {
  if (!isFolder(path))
    throw new CommandError(EXIT.input, `cannot open ${path}: expected the folder of a store`)
  const sieve = await Sieve.open(path)
  try {
    if (!('delete' in sieve)) {
      throw new CommandError(
        EXIT.usage,
        `filter '${(sieve as Sieve).plan.filter}' cannot forget: it has no delete`,
      )
    }
    let forgotten = 0
    for (const url of urls) if (sieve.delete(url)) forgotten++
    if (under.length > 0) {
      checkKeepsKeys(path, sieve)
      const folders = under.map((folder) => folderOf(sieve, folder))
      const state = sieve[STATE]
      for (const key of [...storedKeys(path)]) {
        const text = key.toString('latin1').replace(/^[a-z][a-z0-9+.-]*:\/\//i, '')
        if (folders.some((folder) => text.startsWith(folder)) && deleteKey(state, key)) forgotten++
      }
    }
    new Output().print(`forgot ${formatCounted(forgotten, 'URL')}\n`)
  } finally {
    await sieve.close()
  }
}

// The folder as keys begin with it: without a scheme, with a slash at its end.
function folderOf(sieve: Sieve, folder: string): string {
  const text = folder.includes('://') ? folder : `https://${folder}`
  const { key } = sieve.explain(text.endsWith('/') ? text : `${text}/`)
  return Buffer.from(key)
    .toString('latin1')
    .replace(/^[a-z][a-z0-9+.-]*:\/\//i, '')
}
