// `urlsieve check`: has this URL been seen? Exit code 0 seen, 1 new.
import type { Command } from 'commander'
import { Output } from './output.ts'
import { isDiskSieve, openDiskSieve, openStored } from './stored.ts'

export function checkCommand(program: Command): void {
  program
    .command('check')
    .summary('has a URL been seen?')
    .description(
      'Queries a stored sieve for URLs and marks nothing. Exit code 0 when all were seen, 1 when one is new.',
    )
    .argument('<urls...>', 'URLs')
    .requiredOption('--state <path>', 'a .sieve file or the folder of a store')
    .option('--json', 'one JSON object per URL, with its key and the rules that made it')
    .addHelpText('after', '\nExample:\n  urlsieve check --state seen https://example.com/ && echo seen')
    .action(check)
}

async function check(urls: string[], flags: { state: string; json?: boolean }): Promise<void> {
  const sieve = await (isDiskSieve(flags.state) ? openDiskSieve(flags.state) : openStored(flags.state))
  const output = new Output()
  for (const url of urls) {
    const explanation = await sieve.explain(url)
    if (explanation.verdict === 'new') process.exitCode = 1
    output.print(
      flags.json ? `${JSON.stringify(explanation)}\n` : `${explanation.verdict.padEnd(4)}  ${url}\n`,
    )
  }
}
