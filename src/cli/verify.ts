// `urlsieve verify`: checks every checksum and count of a stored sieve, and repairs what can be repaired.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import { verifyExact } from '../exact/verify.ts'
import { repairStore } from '../store/repair.ts'
import { type FileReport, verifySieve } from '../store/verify.ts'
import { EXIT } from './exit.ts'
import { Output } from './output.ts'
import { isDiskSieve } from './stored.ts'
import { table } from './table.ts'

export function verifyCommand(program: Command): void {
  program
    .command('verify')
    .summary('check a stored sieve, and repair it')
    .description(
      'Reads every byte of a .sieve file or of a store’s folder and checks it. Exit code 0 when all is well, 3 when ' +
        'something is damaged. With --repair a store keeps what can be kept: URLs that were lost are new again.',
    )
    .argument('<path>', 'a .sieve file or the folder of a store')
    .option('--repair', 'of a store: drop what is damaged, keep the rest')
    .option('--json', 'one JSON object')
    .addHelpText('after', '\nExample:\n  urlsieve verify seen --repair')
    .action(verify)
}

const isExact = (path: string) => existsSync(join(path, 'keys'))

async function verifyStore(path: string, repair: boolean): Promise<FileReport[]> {
  return repair ? repairStore(path) : verifySieve(path)
}

// The folder of an exact sieve: all files of LevelDB as one.
async function verifyKeys(path: string, repair: boolean): Promise<FileReport[]> {
  const { files, bytes, damages } = await verifyExact(path)
  if (repair && damages.length > 0) {
    const { ExactSieve } = await import('../exact/index.ts')
    await (await ExactSieve.open(path, { repair })).close()
  }
  return [{ file: 'keys', bytes, parts: files, urls: null, damage: damages }]
}

// Loaded only for this.
async function verifyRuns(path: string, repair: boolean): Promise<FileReport[]> {
  const { verifyDisk, repairDisk } = await import('../disk/verify.ts')
  return repair ? repairDisk(path) : verifyDisk(path)
}

async function verify(path: string, flags: { repair?: boolean; json?: boolean }): Promise<void> {
  const output = new Output()
  const repair = flags.repair ?? false
  const report = await (isExact(path)
    ? verifyKeys(path, repair)
    : isDiskSieve(path)
      ? verifyRuns(path, repair)
      : verifyStore(path, repair))
  const isWell = report.every(({ damage }) => damage.length === 0)
  if (!isWell && !flags.repair) process.exitCode = EXIT.input
  if (flags.json) {
    output.print(`${JSON.stringify({ path, repaired: flags.repair ?? false, files: report })}\n`)
    return
  }
  const rows = report.map(({ file, bytes, parts, urls, damage }) => [
    file,
    bytes,
    parts,
    urls ?? '-',
    damage[0] ?? 'ok',
  ])
  output.print(table(['file', 'bytes', 'parts', 'URLs', 'state'], rows))
  for (const { file, damage } of report)
    for (const line of damage.slice(1)) output.print(`${file}: ${line}\n`)
  if (flags.repair && !isWell)
    output.print('repaired: all that is sound was kept; URLs that were lost are new again\n')
}
