// Gives the memory of a dropped filter back to the system soon after the drop. Left to the collector it goes at a time of
// its own choosing, and a collection that follows while a gigabyte is being unmapped waits for that: 50 to 100 ms.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { holdWork } from '../store/pace.ts'

/** Less is unmapped in a few milliseconds. */
const LARGE_BYTES = 64 * 1024 * 1024
/** A gigabyte is unmapped in 70 ms, on a thread of the platform's. */
const BYTES_PER_MS = 8 * 1024 * 1024
/** The promises of the drop have let go of the filter by then. */
const DELAY_MS = 10

let collect: (() => void) | null | undefined

// Node shows its collector only to code that asks for it by a flag; null on a platform without.
function collector(): (() => void) | null {
  if (collect !== undefined) return collect
  try {
    setFlagsFromString('--expose-gc')
    collect = runInNewContext('gc') as () => void
  } catch {
    collect = null
  }
  return collect
}

let waitingBytes = 0

/** A filter of this size is no longer used by anyone. Long work pauses while its memory is unmapped. */
export function releaseMemory(bytes: number): void {
  if (bytes < LARGE_BYTES) return
  waitingBytes += bytes
  if (waitingBytes > bytes) return
  setTimeout(() => {
    const held = waitingBytes
    waitingBytes = 0
    const run = collector()
    if (!run) return
    holdWork(held / BYTES_PER_MS)
    run()
  }, DELAY_MS).unref()
}
