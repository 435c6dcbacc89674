// `urlsieve under`: has anything been seen under this host or folder? What no flat filter can answer.
import type { Command } from 'commander'
import { siftLines } from '../lines/sift.ts'
import { parseCount, parseRate } from '../quantities.ts'
import { FolderGrowth } from './folder-growth.ts'
import { readChunks } from './input.ts'
import { warnOfLooks } from './line-looks.ts'
import { Output, warnOfNoUrls } from './output.ts'

interface Flags {
  in: string[]
  urls: number
  fpr: number
  layers?: number
  json?: boolean
}

export function underCommand(program: Command): void {
  program
    .command('under')
    .summary('has anything been seen under a host or folder?')
    .description(
      'Reads URLs, one per line, into prefix-layers filters that grow with the input, and answers for each folder whether ' +
        'any URL is under it. A "no" is certain; a "yes" is wrong at most at the rate given. Exit code 1 when a folder has ' +
        'nothing under it.',
    )
    .argument('<folders...>', 'hosts or folders, such as example.com or example.com/blog/')
    .option('--in <files...>', 'files of URLs, packed or not; stdin when not given', ['-'])
    .option('--urls <n>', 'expected distinct URLs: the size it starts with', parseCount('--urls'), 1_000_000)
    .option('--fpr <rate>', 'the most wrong "yes" answers', parseRate('--fpr'), 1e-6)
    .option('--layers <L>', 'folders remembered of each URL', parseCount('--layers'))
    .option('--json', 'one JSON object per folder')
    .addHelpText(
      'after',
      `
Example:
  urlsieve under example.org example.org/news/ --in links.txt`,
    )
    .action(under)
}

async function under(folders: string[], flags: Flags): Promise<void> {
  const urls = new FolderGrowth(flags.urls, flags.fpr, flags.layers)
  let lines = 0
  const look = async (path: string, head: Uint8Array) => warnOfLooks(path, head, 'urls only')
  for (const path of flags.in) {
    for await (const { verdicts } of siftLines(urls, readChunks(path, look))) lines += verdicts.length
  }
  warnOfNoUrls(lines, urls.invalid)
  const output = new Output()
  for (const folder of folders) {
    const isSeen = urls.hasUnder(folder)
    if (!isSeen) process.exitCode = 1
    output.print(
      flags.json ? `${JSON.stringify({ folder, seen: isSeen })}\n` : `${isSeen ? 'yes' : 'no '}  ${folder}\n`,
    )
  }
}
