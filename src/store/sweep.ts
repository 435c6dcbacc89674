// What is left over in a store's folder.
import { readdirSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { keySegmentPath, listKeySegments, writeKeySegment } from './key-segments.ts'
import { listStore, logName, snapshotName } from './layout.ts'

/**
 * Takes away what a fold or a crash left behind: drafts, and logs and snapshots older than the one that counts. Keys are
 * kept first, those of before a clear are not.
 */
export function sweep(folder: string, number: number, keepKeys: boolean, keysFrom: number): void {
  const { snapshots, logs } = listStore(folder)
  for (const n of snapshots) if (n < number) unlinkSync(join(folder, snapshotName(n)))
  for (const n of logs) {
    if (n >= number) continue
    const path = join(folder, logName(n))
    if (keepKeys && n >= keysFrom) writeKeySegment(keySegmentPath(folder, n), path)
    unlinkSync(path)
  }
  if (keysFrom > 0)
    for (const path of listKeySegments(folder)) if (path < keySegmentPath(folder, keysFrom)) unlinkSync(path)
  for (const name of readdirSync(folder)) {
    if (/^(snapshot|keys)-.*\.draft-/.test(name)) unlinkSync(join(folder, name))
  }
}
