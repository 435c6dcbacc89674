// Repeats and lines that are not URLs are counted for good: after close, after a kill, with and without a snapshot between.
import { spawnSync } from 'node:child_process'
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { ExactSieve } from '../../src/exact/index.ts'
import { Sieve } from '../../src/sieve.ts'
import { encodeRecord, OP } from '../../src/store/log.ts'
import { verifySieve } from '../../src/store/verify.ts'
import { builtLibrary } from '../support/built.ts'
import { newFolders } from '../support/folders.ts'

const built = builtLibrary()
const newFolder = newFolders()

/** Adds through every verb, then ends as a kill does, at once. */
const script = (folder: string, isSaved: boolean) => `
  import { Sieve } from '${built}/index.js'
  const sieve = await Sieve.open('${folder}', { durability: 'never' })
  sieve.add('https://example.com/1')
  sieve.add('https://example.com/1')
  sieve.add('not a URL')
  sieve.addMany(['https://example.com/1', 'https://example.com/2', 'nor this'])
  if (${isSaved}) await sieve.save()
  sieve.addLines(Buffer.from('https://example.com/2\\nhttps://example.com/3\\nhttps://example.com/3\\n'))
  sieve.has('no URL either')
  sieve.add('https://example.com/1')
  const { urls, seen, invalid } = sieve.stats()
  console.log(JSON.stringify({ urls, seen, invalid }))
  process.kill(process.pid, 'SIGKILL')`

/** Adds a repeat on a disk that takes no more than some bytes of a file, after `before` repeats that it took whole. */
const shortScript = (folder: string, before: number, bytes: number) => `
  import { spawnSync } from 'node:child_process'
  import { Sieve } from '${built}/index.js'
  const sieve = await Sieve.open('${folder}', { durability: 'never' })
  for (let i = 0; i <= ${before}; i++) sieve.add('https://example.com/1')
  spawnSync('prlimit', ['--pid', String(process.pid), '--fsize=${bytes}:'])
  sieve.add('https://example.com/1')
  process.kill(process.pid, 'SIGKILL')`
const hasLimits = spawnSync('prlimit', ['--version']).status === 0

describe('the counts of a store', () => {
  it.skipIf(!hasLimits).each([
    [0, 20, 0],
    [1, 100, 1],
    [2, 20, 2],
  ])('are not damaged by a disk that took a part: after %i, of %i bytes', async (before, bytes, seen) => {
    const folder = newFolder()
    spawnSync(process.execPath, ['--input-type=module', '-e', shortScript(folder, before, bytes)])
    const sieve = await Sieve.open(folder)
    expect(sieve.stats()).toMatchObject({ urls: 1, seen })
    await sieve.close()
  })

  it.each([false, true])('are those of before a kill; a snapshot between: %s', async (isSaved) => {
    const folder = newFolder()
    const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', script(folder, isSaved)], {
      encoding: 'utf8',
    })
    const said = JSON.parse(stdout)
    expect(said).toMatchObject({ urls: 5, seen: 5 })
    for (const readOnly of [true, false, true]) {
      const sieve = await Sieve.open(folder, { readOnly })
      expect(sieve.stats()).toMatchObject(said)
      await sieve.close()
    }
    const sieve = await Sieve.open(folder)
    sieve.add('https://example.com/1')
    sieve.clear()
    sieve.add('https://example.com/1')
    sieve.add('https://example.com/1')
    await sieve.close()
    expect((await Sieve.open(folder, { readOnly: true })).stats()).toMatchObject({
      urls: 1,
      seen: 1,
      invalid: 0,
    })
  })

  it('that are damaged are named', async () => {
    const folder = newFolder()
    const sieve = await Sieve.open(folder)
    for (let i = 0; i < 3; i++) sieve.add('https://example.com/')
    await sieve.close()
    const path = join(folder, 'counts')
    const bytes = readFileSync(path)
    bytes[20]! ^= 1
    writeFileSync(path, bytes)
    const damage = (await verifySieve(folder)).filter((report) => report.damage.length > 0)
    expect(damage.map(({ file }) => file)).toEqual(['counts'])
    // The other slot stands in, as after a write that a disk has cut short.
    const again = await Sieve.open(folder)
    expect(again.stats().seen).toBeGreaterThan(0)
    await again.close()
    writeFileSync(path, bytes.subarray(0, 64))
    await expect(Sieve.open(folder)).rejects.toMatchObject({ code: 'corrupt' })
    writeFileSync(path, bytes.subarray(0, 30))
    await (await Sieve.open(folder)).close()
    writeFileSync(path, Buffer.alloc(1000))
    await expect(Sieve.open(folder)).rejects.toThrow(/counts is damaged at byte 0: longer than 128 B/)
  })

  it('that nothing has counted are named, their checksum right', async () => {
    const folder = newFolder()
    const sieve = await Sieve.open(folder)
    for (let i = 0; i < 3; i++) sieve.add('https://example.com/')
    await sieve.close()
    const path = join(folder, 'counts')
    const bytes = readFileSync(path)
    for (let at = 0; at < bytes.length; at += 64) {
      bytes.writeBigUInt64LE(2n ** 53n - 1n, at + 16)
      bytes.writeUInt32LE(crc32(bytes.subarray(at, at + 60)), at + 60)
    }
    writeFileSync(path, bytes)
    await expect(Sieve.open(folder)).rejects.toThrow(/counts past 281474976710656/)
  })

  it('a forged log that deletes what is not there takes none below 0', async () => {
    const folder = newFolder()
    const sieve = await Sieve.open(folder)
    sieve.add('https://example.com/')
    await sieve.close()
    appendFileSync(join(folder, 'log-00000001'), encodeRecord(OP.deleteHashes, 3, Buffer.alloc(24, 7)))
    const forged = await Sieve.open(folder)
    expect(forged.stats().urls).toBe(0)
    await forged.save()
    await forged.close()
    expect((await Sieve.open(folder, { readOnly: true })).has('https://example.com/')).toBe(true)
  })
})

describe('the counts of an exact sieve', () => {
  it('are those of before a kill', async () => {
    const folder = newFolder()
    const exact = script(folder, false)
      .replace('{ Sieve }', '{ ExactSieve as Sieve }')
      .replace('/index.js', '/exact/index.js')
      .replaceAll(/^ {2}sieve\./gm, '  await sieve.')
    const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', exact], { encoding: 'utf8' })
    const said = JSON.parse(stdout)
    expect(said).toMatchObject({ urls: 5, seen: 5 })
    const sieve = await ExactSieve.open(folder)
    await sieve.filled()
    expect(sieve.stats()).toMatchObject(said)
    await sieve.close()
  })
})
