// The rows of a batch that are of one kind, such as those that are new.
import type { RecordBatch } from './format.ts'

/** The rows of one kind. Runs of them are copied whole. */
export function keepRows({ rows, ends }: RecordBatch, kinds: Uint8Array, kind: number): Uint8Array {
  const kept = new Uint8Array(rows.length)
  let size = 0
  /** Where the run of kept rows begins, and where the row begins. */
  let run = 0
  let from = 0
  const copy = (to: number) => {
    if (run < to) kept.set(rows.subarray(run, to), size)
    size += to - run
  }
  for (let i = 0; i < ends.length; i++) {
    if (kinds[i] !== kind) {
      copy(from)
      run = ends[i]!
    }
    from = ends[i]!
  }
  copy(from)
  return kept.subarray(0, size)
}
