// `urlsieve merge`: one sieve that remembers what several do.
import type { Command } from 'commander'
import { addKey, difference } from '../merge.ts'
import { formatCounted } from '../quantities.ts'
import { STATE } from '../state.ts'
import { storedKeys } from '../store/stored-keys.ts'
import { CommandError, EXIT } from './exit.ts'
import { Output } from './output.ts'
import { copyStored, isDiskSieve, isFolder, openStored } from './stored.ts'

export function mergeCommand(program: Command): void {
  program
    .command('merge')
    .summary('one sieve of several')
    .description(
      'Writes a .sieve file that remembers what all the given ones do. They must have the same filter, parameters, ' +
        'profile and secret key as the first; or be stores that keep their keys (--keep-keys): those keys are added again. ' +
        'Disk sieves with the same rules and secret key are merged into a new folder.',
    )
    .argument('<paths...>', '.sieve files or folders of stores')
    .requiredOption('-o, --output <file>', 'the .sieve file to write; of disk sieves, a new folder')
    .addHelpText('after', '\nExample:\n  urlsieve merge monday.sieve tuesday.sieve -o week.sieve')
    .action(merge)
}

async function merge([first, ...rest]: string[], { output }: { output: string }): Promise<void> {
  if (isDiskSieve(first!)) {
    const { mergeStores } = await import('../disk/run-hashes.ts')
    const urls = await mergeStores([first!, ...rest], output)
    new Output().print(summaryOf(output, urls, rest.length + 1))
    return
  }
  const sieve = await copyStored(first!)
  const state = sieve[STATE]
  for (const path of rest) {
    const other = await openStored(path)
    const differ = difference(state, other[STATE])
    if (!differ) {
      await sieve.merge(other)
    } else if (isFolder(path) && other[STATE].keepsKeys) {
      for (const key of storedKeys(path)) addKey(state, key)
    } else {
      throw new CommandError(
        EXIT.usage,
        `cannot merge ${path} into ${first}: they have different ${differ}, and it keeps no keys`,
      )
    }
  }
  await sieve.save(output)
  const { urls, urlsEstimated } = sieve.stats()
  new Output().print(summaryOf(output, urls, rest.length + 1, urlsEstimated))
}

const summaryOf = (output: string, urls: number, sieves: number, isEstimate = false) =>
  `${output}: ${isEstimate ? 'about ' : ''}${formatCounted(urls, 'URL')} of ${formatCounted(sieves, 'sieve')}\n`
