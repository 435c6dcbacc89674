// Folders of a test file's own, removed after its last test.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'

/** Returns a function that names a path where nothing exists yet. */
export function newPaths(): () => string {
  const root = mkdtempSync(join(tmpdir(), 'urlsieve-test-'))
  let count = 0
  afterAll(() => rmSync(root, { recursive: true, force: true }))
  return () => join(root, String(++count))
}

/** Returns a function that creates an empty folder. */
export function newFolders(): () => string {
  const newPath = newPaths()
  return () => {
    const path = newPath()
    mkdirSync(path)
    return path
  }
}
