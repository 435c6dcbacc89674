// `urlsieve freeze`: a stored fingerprint sieve as a binary fuse set, to be shipped and only queried.
import { statSync } from 'node:fs'
import { type Command, Option } from 'commander'
import { type FingerprintBits, fingerprintWidths } from '../filters/binary-fuse.ts'
import { freeze } from '../freeze.ts'
import { formatBytes, formatCount } from '../quantities.ts'
import { limitBitsPerUrl } from '../sizing/classic.ts'
import { checkOutput } from './input.ts'
import { Output } from './output.ts'
import { isFolder, openStored } from './stored.ts'

interface Flags {
  output?: string
  bits: `${FingerprintBits}`
  json?: boolean
}

export function freezeCommand(program: Command): void {
  program
    .command('freeze')
    .summary('create a small read-only set to ship')
    .description(
      'Makes a binary fuse set of the URLs of a fingerprint sieve: a third to a tenth of its size. It takes no more URLs; ' +
        'check, inspect and the library answer from it. Making it takes about 24 bytes of memory a URL.',
    )
    .argument('<sieve>', 'a .sieve file or the folder of a store, of filter fingerprint; it stays as it is')
    .option('-o, --output <file>', 'the file to write; SIEVE.frozen.sieve when not given')
    .addOption(
      new Option('--bits <b>', 'bits of a fingerprint: a new URL is answered "seen" once in 2^b')
        .choices(fingerprintWidths.map(String))
        .default('32'),
    )
    .option('--json', 'one JSON object')
    .addHelpText(
      'after',
      `
Examples:
  urlsieve freeze seen.sieve -o shipped.sieve
  urlsieve freeze seen/ --bits 16 --json`,
    )
    .action(freezeStored)
}

/** seen.sieve → seen.frozen.sieve, seen/ → seen.frozen.sieve */
const frozenName = (path: string) => `${path.replace(/\/+$|\.sieve$/, '')}.frozen.sieve`

async function freezeStored(path: string, flags: Flags): Promise<void> {
  const target = flags.output ?? frozenName(path)
  const sieve = await openStored(path)
  if (!isFolder(path)) checkOutput([path], target)
  const bits = Number(flags.bits) as FingerprintBits
  const frozen = await freeze(sieve, { bits })
  await frozen.save(target)
  const { urls, sizeBytes, bitsPerUrl, expectedRate: rate } = frozen.stats()
  const beforeBytes = sieve.stats().sizeBytes
  const limit = urls === 0 || rate === null ? null : limitBitsPerUrl(rate)
  const overLimit = limit === null ? null : bitsPerUrl! / limit - 1
  const fileBytes = statSync(target).size
  const output = new Output()
  if (flags.json) {
    const result = {
      file: target,
      urls,
      bits,
      sizeBytes,
      fileBytes,
      beforeBytes,
      bitsPerUrl,
      rate,
      limit,
      overLimit,
    }
    output.print(`${JSON.stringify(result)}\n`)
    return
  }
  const rows: [string, string][] = [
    ['file', target],
    ['URLs', formatCount(urls)],
    ['size', `${formatBytes(fileBytes)}, was ${formatBytes(beforeBytes)} in memory`],
    ['bits per URL', bitsPerUrl?.toFixed(2) ?? '-'],
    [
      'rate',
      urls === 0 ? '0' : rate === null ? '-' : `${rate.toPrecision(2)}, once in ${formatCount(2 ** bits)}`,
    ],
    ['limit', limit === null ? '-' : `${limit} bits per URL: ${(overLimit! * 100).toFixed(1)} % over it`],
  ]
  output.print(rows.map(([name, value]) => `${name.padEnd(14)}${value}\n`).join(''))
}
