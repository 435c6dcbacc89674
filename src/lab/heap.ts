// Bytes of JavaScript objects, measured after a garbage collection: for structures that keep their keys in a Set.
import { memoryUsage } from 'node:process'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Bytes of heap that are in use once garbage is gone; null where the collector cannot be called. */
export function heapBytes(): number | null {
  try {
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    collect()
    collect()
    return memoryUsage().heapUsed
  } catch {
    return null
  }
}
