// A folder of its own for each test, gone when the file's tests have ended.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'

/** Returns what makes a path that does not exist yet. */
export function folders(): () => string {
  const root = mkdtempSync(join(tmpdir(), 'urlsieve-exact-'))
  let count = 0
  afterAll(() => rmSync(root, { recursive: true, force: true }))
  return () => join(root, String(++count))
}
