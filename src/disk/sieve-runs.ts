// The hashes of a sieve in memory as runs on disk, with which a run goes on where memory ends.
import { Kernel } from '../kernel.ts'
import { type Run, RunBuffers, RunWriter, SOME_HASHES } from './run.ts'
import type { TempFiles } from './temp-files.ts'

/**
 * Writes all hashes, which come in parts, to runs. Parts follow each other in the order of their hashes, so that one run takes
 * them all; a part that does not follow begins another. `expected`: how many hashes there are, about.
 */
export async function writeSieveRuns(
  module: WebAssembly.Module,
  temp: TempFiles,
  parts: Iterable<BigUint64Array>,
  expected: number,
): Promise<Run[]> {
  const buffers = new RunBuffers(Kernel.create(module))
  const runs: Run[] = []
  let writer: RunWriter | null = null
  let last = 0n
  for (const hashes of parts) {
    if (hashes.length === 0) continue
    hashes.sort()
    if (writer && hashes[0]! <= last) {
      runs.push(await writer.end(SET, 0))
      writer = null
    }
    writer ??= new RunWriter(buffers, temp.create(), expected)
    for (let at = 0; at < hashes.length; at += SOME_HASHES) {
      const some = hashes.subarray(at, at + SOME_HASHES)
      new BigUint64Array(buffers.kernel.bytes.buffer, buffers.hashesAt, some.length).set(some)
      const wait = writer.append(some.length)
      if (wait) await wait
    }
    last = hashes.at(-1)!
  }
  if (writer) runs.push(await writer.end(SET, 0))
  return runs
}

/** Temporary runs belong to no store. */
const SET = 0n
