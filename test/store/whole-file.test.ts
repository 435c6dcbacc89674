// Files that are read whole: all bytes, or one error long before the memory is full.
import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { MiB, readWhole } from '../../src/store/whole-file.ts'
import { randomFrom } from '../support/random.mjs'

const folder = mkdtempSync(join(tmpdir(), 'urlsieve-whole-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const path = join(folder, 'file')

it('all bytes, up to the limit', () => {
  const random = randomFrom(4)
  for (const size of [0, 1, 65_535, 65_536, 65_537, 300_000, MiB]) {
    const bytes = Buffer.from(Array.from({ length: size }, () => Math.floor(random() * 256)))
    writeFileSync(path, bytes)
    expect(readWhole(path, MiB).equals(bytes)).toBe(true)
  }
  expect(readWhole(path, MiB).length).toBe(MiB)
  expect(() => readWhole(path, MiB - 1)).toThrow('longer than 1')
})

it('a file that states 3 GB takes no memory', () => {
  writeFileSync(path, 'x')
  truncateSync(path, 3e9)
  expect(() => readWhole(path, MiB)).toThrow('longer than 1.0 MiB, the most that is expected')
})

it.runIf(process.platform === 'linux')('devices and files of unknown size', () => {
  expect(() => readWhole('/dev/zero', MiB)).toThrow('a device or a pipe, expected a file')
  expect(() => readWhole('/dev/zero', MiB, { isStream: true })).toThrow('longer than 1')
  expect(readWhole('/proc/self/status', MiB).length).toBeGreaterThan(100)
})

it('folders and what is missing', () => {
  mkdirSync(join(folder, 'folder'))
  expect(() => readWhole(join(folder, 'folder'), MiB)).toThrow('is a folder, expected a file')
  expect(() => readWhole(join(folder, 'no'), MiB)).toThrow('ENOENT')
})
