// Inputs that are damaged, empty, missing or no file: `dedupe` ends the same way on them, whatever remembers. Some;
// URLSIEVE_FULL=1: all.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect } from 'vitest'
import { randomFrom } from '../support/random.mjs'
import { urlLines } from './awk.ts'
import { cases, type Ended, isFull, urlsieve } from './command.ts'

/** Several times what is read at once (256 KiB), packed or not. */
export const lines = isFull
  ? urlLines(randomFrom(41), 60_000, 40_000)
  : urlLines(randomFrom(41), 26_000, 18_000)
const packed = gzipSync(lines)

function wrongSum(): Buffer {
  const wrong = Buffer.from(packed)
  wrong[wrong.length - 8]! ^= 255
  return wrong
}

/** Name and content; no content where there is no such file, or a folder. */
const inputs: Readonly<Record<string, Buffer | null>> = {
  'cut.gz': packed.subarray(0, Math.floor(packed.length / 2)),
  'short.gz': gzipSync('http://a.example/\nhttp://b.example/\nhttp://c.exam').subarray(0, -4),
  'trailer.gz': packed.subarray(0, -1),
  'member.gz': Buffer.concat([packed, packed.subarray(0, 5)]),
  'members.gz': Buffer.concat([gzipSync(lines.subarray(0, 600_001)), gzipSync(lines.subarray(600_001))]),
  'more.gz': Buffer.concat([packed, Buffer.from('not gzip')]),
  'half-header.gz': Buffer.concat([packed, Buffer.from([0x1f, 0x8b, 0x58, 0x58])]),
  'wrong.gz': wrongSum(),
  'fake.gz': lines,
  'zero.gz': Buffer.alloc(0),
  'zero.txt': Buffer.alloc(0),
  'missing.gz': null,
  'missing.txt': null,
  'folder.gz': null,
  folder: null,
}

/** One of each: cut, short and cut, of two members, of a wrong sum, not packed, empty, missing, a folder. */
const OWN = ['cut.gz', 'short.gz', 'members.gz', 'wrong.gz', 'fake.gz', 'zero.txt', 'missing.gz', 'folder']
export const badInputs = cases(
  OWN,
  Object.keys(inputs).filter((name) => !OWN.includes(name)),
)

export function writeBadInputs(folder: string): void {
  for (const [name, content] of Object.entries(inputs)) {
    if (content) writeFileSync(join(folder, name), content)
    else if (name.startsWith('folder')) mkdirSync(join(folder, name))
  }
}

const plainRuns = new Map<string, Promise<Ended>>()

/** `dedupe --profile raw` of an input in a folder, run once. */
export function plainly(folder: string, name: string): Promise<Ended> {
  const path = join(folder, name)
  const run = plainRuns.get(path) ?? urlsieve(['dedupe', '--profile', 'raw', name], { cwd: folder })
  plainRuns.set(path, run)
  return run
}

/** With further options, `dedupe` prints of an input, says and ends as without them. */
export async function expectAsPlain(folder: string, name: string, options: readonly string[]): Promise<void> {
  const [plain, other] = await Promise.all([
    plainly(folder, name),
    urlsieve(['dedupe', '--profile', 'raw', name, ...options], { cwd: folder }),
  ])
  const told = ({ code, signal, stderr }: typeof plain) => ({ code, signal, stderr })
  expect(told(other)).toEqual(told(plain))
  expect(other.stdout.length).toBe(plain.stdout.length)
  expect(other.stdout.equals(plain.stdout)).toBe(true)
}
