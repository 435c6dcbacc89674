// A disk that refuses: a clear error, it can still be asked, nothing acknowledged is lost, and it goes on.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { builtLibrary } from '../support/built.ts'
import { newFolders } from '../support/folders.ts'

const newFolder = newFolders()

const writer = fileURLToPath(new URL('full-disk-writer.mjs', import.meta.url))
const hasLimits = spawnSync('prlimit', ['--version']).status === 0
const built = builtLibrary()

describe.skipIf(!hasLimits)('a file that may not grow', () => {
  it.each(['interval', 'always'])('with durability %s', (durability) => {
    const folder = newFolder()
    const argument = JSON.stringify({ built, folder, durability })
    const script = `trap '' XFSZ; ulimit -S -f 2000; exec "$0" "$1" "$2"` // blocks of 512 or 1024 bytes
    const args = ['-c', script, process.execPath, writer, argument]
    const { stdout, stderr } = spawnSync('bash', args, { encoding: 'utf8' })
    expect(stderr).toBe('')
    const told = JSON.parse(stdout)
    expect(told.acknowledged).toBeGreaterThan(10)
    expect(told).toMatchObject({ askedWhileFull: true, refusedIsNew: true, afterwards: 200, again: 0 })
    expect(told.kept).toBe((told.acknowledged + 2) * 200)
    expect(told.errors.length).toBe(4)
    for (const error of told.errors) {
      expect(error).toEqual({
        code: 'disk',
        message: expect.stringMatching(/^cannot write .*: the file may not grow further/),
      })
    }
  })
})
