// What is left over in a store's folder.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { keySegmentPath, listKeySegments, writeKeySegment } from './key-segments.ts'
import { listStore, logName, snapshotName } from './layout.ts'

/**
 * The files that a fold or a crash left behind, to be removed: drafts, and logs and snapshots older than the one that
 * counts. Keys are kept first, in segments; those of before a clear are left over too.
 */
export function leftovers(folder: string, number: number, keepKeys: boolean, keysFrom: number): string[] {
  const { snapshots, logs } = listStore(folder)
  const older = (n: number) => n < number
  const paths = snapshots.filter(older).map((n) => join(folder, snapshotName(n)))
  for (const n of logs.filter(older)) {
    const path = join(folder, logName(n))
    if (keepKeys && n >= keysFrom) writeKeySegment(keySegmentPath(folder, n), path)
    paths.push(path)
  }
  if (keysFrom > 0) {
    paths.push(...listKeySegments(folder).filter((path) => path < keySegmentPath(folder, keysFrom)))
  }
  for (const name of readdirSync(folder)) {
    if (/^(snapshot|keys)-.*\.draft-/.test(name)) paths.push(join(folder, name))
  }
  return paths
}
