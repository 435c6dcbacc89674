// Gives the memory of a dropped filter back to the system soon after the drop. Left to the collector it goes at a time of
// its own choosing, and a collection that follows while a gigabyte is being unmapped waits for that: 50 to 100 ms.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { holdWork } from '../store/pace.ts'

/** Less is unmapped in a few milliseconds. */
const LARGE_BYTES = 64 * 1024 * 1024
/** No filter was dropped for this long: FLUSHALL is over, and its promises have let go of the filters. */
const QUIET_MS = 50
/** The memory is released after this time, whatever is dropped meanwhile. */
const MOST_WAIT_MS = 5000
/** How often the resident memory is read while it falls. */
const STEP_MS = 5
/** Unmapping is over when the resident memory has not fallen for this long. */
const STILL_MS = 40

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

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms).unref())

let waitingBytes = 0
let droppedAt = 0
let owners: object[] = []
let isReleasing = false

/**
 * A filter of this size is no longer used by anyone but, perhaps, this `owner`, which the caller drops. Long work pauses
 * while its memory is unmapped.
 */
export function releaseMemory(bytes: number, owner?: object): void {
  if (bytes > 0) droppedAt = performance.now()
  if (bytes < LARGE_BYTES) return
  waitingBytes += bytes
  if (owner) owners.push(owner)
  if (!isReleasing) void releaseWaiting()
}

// One collection at a time: a second one would wait for what the first unmaps. The first finishes a collection that is under
// way in steps, and unmaps the small filters dropped with these, while the owners still hold the large ones.
async function releaseWaiting(): Promise<void> {
  const run = collector()
  isReleasing = true
  while (waitingBytes > 0) {
    await allDropped()
    run?.()
    await unmapped()
    waitingBytes = 0
    owners = []
    if (!run) continue
    holdWork(STILL_MS)
    run()
    await unmapped()
  }
  isReleasing = false
}

async function allDropped(): Promise<void> {
  const begun = performance.now()
  do await wait(QUIET_MS)
  while (performance.now() - droppedAt < QUIET_MS && performance.now() - begun < MOST_WAIT_MS)
}

/** Resolves when the platform's thread has nothing left to unmap; long work is held until then. */
async function unmapped(): Promise<void> {
  let lowest = process.memoryUsage.rss()
  let fellAt = performance.now()
  while (performance.now() - fellAt < STILL_MS) {
    holdWork(2 * STEP_MS)
    await wait(STEP_MS)
    const now = process.memoryUsage.rss()
    if (now >= lowest) continue
    lowest = now
    fellAt = performance.now()
  }
}
