// A store that cannot be whole is refused, by the writer and by readers; verify names what opening refuses; repair keeps
// what can be kept and says what is lost. So for the keys of an exact sieve, a frontier and a server's folder.
import { readdirSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { Frontier } from '../../src/crawlers/frontier.ts'
import { ExactSieve, verifyExact } from '../../src/exact/index.ts'
import { LocalRegistry } from '../../src/server/local-registry.ts'
import { Sieve } from '../../src/sieve.ts'
import { logName, snapshotName } from '../../src/store/layout.ts'
import { encodeRecord, OP } from '../../src/store/log.ts'
import { repairStore } from '../../src/store/repair.ts'
import { verifySieve } from '../../src/store/verify.ts'
import { batchOf } from '../crash/batches.mjs'
import { putTogether, recordsOf, takeApart } from '../hostile/forge.mjs'
import { newFolders } from '../support/folders.ts'
import { copyFolder } from './copy.ts'

const BATCH_URLS = 20
const newFolder = newFolders()

const held = (sieve: Sieve, batch: number) =>
  sieve.hasMany(batchOf(batch, BATCH_URLS)).reduce((sum, answer) => sum + answer, 0)

/** A store as a crash in the middle of a fold leaves it: one snapshot and three logs, of a batch each. */
async function crashed(keepKeys = false): Promise<string> {
  const folder = newFolder()
  const sieve = await Sieve.open(folder, { profile: 'raw', keepKeys })
  sieve.addMany(batchOf(0, BATCH_URLS))
  await sieve.save()
  sieve.addMany(batchOf(1, BATCH_URLS))
  await sieve.close()
  // The log of batch 1 is number 2; two more go on from it.
  for (const [number, batch] of [
    [3, 2],
    [4, 3],
  ] as const) {
    const other = newFolder()
    copyFolder(folder, other, (path) => !/log-0000000[34]$/.test(path))
    const writer = await Sieve.open(other)
    writer.addMany(batchOf(batch, BATCH_URLS))
    await writer.close()
    const before = readFileSync(join(folder, logName(2))).length
    writeFileSync(join(folder, logName(number)), readFileSync(join(other, logName(2))).subarray(before))
  }
  return folder
}

async function expectRefused(folder: string, file: string): Promise<void> {
  for (const readOnly of [false, true]) {
    await expect(Sieve.open(folder, { readOnly }), `readOnly ${readOnly}`).rejects.toMatchObject({
      code: 'corrupt',
      message: expect.stringContaining(join(folder, file)),
    })
  }
  const damage = (await verifySieve(folder)).filter((report) => report.damage.length > 0)
  expect(damage.map((report) => report.file)).toEqual([file])
}

describe('a store', () => {
  it('with several logs opens', async () => {
    const sieve = await Sieve.open(await crashed())
    for (const batch of [0, 1, 2, 3]) expect(held(sieve, batch)).toBe(BATCH_URLS)
    expect(sieve.stats().urls).toBe(4 * BATCH_URLS)
    await sieve.close()
  })

  it.each([false, true])(
    'whose snapshot is missing is refused, and nothing is made anew; keepKeys %s',
    async (keepKeys) => {
      const folder = await crashed(keepKeys)
      rmSync(join(folder, snapshotName(2)))
      const names = readdirSync(folder)
      await expectRefused(folder, snapshotName(2))
      await expect(repairStore(folder)).rejects.toThrow(
        /cannot be repaired: .* restore a snapshot from a copy/,
      )
      expect(readdirSync(folder)).toEqual(names)
    },
  )

  it.each([2, 3])('whose older log %i is missing is refused; repair keeps the rest', async (number) => {
    const folder = await crashed()
    rmSync(join(folder, logName(number)))
    await expectRefused(folder, logName(number))
    const lost = (await repairStore(folder)).flatMap(({ damage }) => damage)
    expect(lost).toEqual([expect.stringMatching(`${logName(number)} is missing`)])
    expect((await verifySieve(folder)).flatMap(({ damage }) => damage)).toEqual([])
    const sieve = await Sieve.open(folder)
    for (const batch of [0, 1, 2, 3]) expect(held(sieve, batch)).toBe(batch === number - 1 ? 0 : BATCH_URLS)
    expect(sieve.stats().urls).toBe(3 * BATCH_URLS)
    await sieve.close()
  })

  it('whose older log is torn is refused; repair keeps the rest', async () => {
    const folder = await crashed()
    truncateSync(join(folder, logName(3)), 100)
    await expectRefused(folder, logName(3))
    await repairStore(folder)
    const sieve = await Sieve.open(folder)
    for (const batch of [0, 1, 3]) expect(held(sieve, batch)).toBe(BATCH_URLS)
    expect(held(sieve, 2)).toBe(0)
    await sieve.close()
  })

  it('whose only log is missing is refused; repair keeps the snapshot', async () => {
    const folder = newFolder()
    const sieve = await Sieve.open(folder, { profile: 'raw' })
    sieve.addMany(batchOf(0, BATCH_URLS))
    await sieve.save()
    sieve.addMany(batchOf(1, BATCH_URLS))
    await sieve.close()
    rmSync(join(folder, logName(2)))
    await expectRefused(folder, logName(2))
    await repairStore(folder)
    const repaired = await Sieve.open(folder)
    expect([held(repaired, 0), held(repaired, 1)]).toEqual([BATCH_URLS, 0])
    await repaired.close()
  })

  it('whose making was cut short is made', async () => {
    const folder = newFolder()
    writeFileSync(join(folder, logName(1)), '')
    const sieve = await Sieve.open(folder)
    expect(sieve.add('https://example.com/')).toBe(true)
    await sieve.close()
  })
})

describe('the keys of an exact sieve', () => {
  async function made(): Promise<string> {
    const folder = newFolder()
    const sieve = await ExactSieve.open(folder)
    await sieve.addMany(batchOf(0, BATCH_URLS))
    await sieve.close()
    // Opening writes the log to a table, and begins another.
    const again = await ExactSieve.open(folder)
    await again.addMany(batchOf(1, BATCH_URLS))
    await again.close()
    return folder
  }
  const fileOf = (folder: string, pattern: RegExp) =>
    join(folder, 'keys', readdirSync(join(folder, 'keys')).find((name) => pattern.test(name))!)

  it.each([
    ['CURRENT', /^CURRENT$/],
    ['a table', /\.ldb$/],
    ['the log', /\.log$/],
  ])('without %s are refused, and nothing is removed', async (_, pattern) => {
    const folder = await made()
    const path = fileOf(folder, pattern)
    renameSync(path, `${folder}/away`)
    await expect(ExactSieve.open(folder)).rejects.toMatchObject({
      code: 'corrupt',
      message: expect.stringContaining(path),
    })
    expect((await verifyExact(folder)).damages).toEqual([expect.stringContaining(path)])
    renameSync(`${folder}/away`, path)
    const sieve = await ExactSieve.open(folder)
    expect(await sieve.hasMany(batchOf(0, 2))).toEqual(new Uint8Array([1, 1]))
    expect(await sieve.hasMany(batchOf(1, 2))).toEqual(new Uint8Array([1, 1]))
    await sieve.close()
  })

  it('that are all gone are refused while their filter is there', async () => {
    const folder = await made()
    rmSync(join(folder, 'keys'), { recursive: true })
    await expect(ExactSieve.open(folder)).rejects.toMatchObject({ code: 'corrupt' })
    expect((await verifyExact(folder)).damages).toHaveLength(1)
  })
})

describe('a frontier', () => {
  const filesIn = (folder: string) =>
    readdirSync(folder)
      .filter((name) => name.startsWith('frontier-'))
      .sort()

  it.each(['missing', 'torn'])('with a file that is %s is refused', (how) => {
    const folder = newFolder()
    const frontier = Frontier.open({ folder, fileBytes: 500 })
    for (let batch = 0; batch < 6; batch++) frontier.release(frontier.hold(batchOf(batch, BATCH_URLS)))
    frontier.close()
    const path = join(folder, filesIn(folder)[2]!)
    if (how === 'missing') rmSync(path)
    else truncateSync(path, 700)
    expect(() => Frontier.open({ folder })).toThrow(/the records between are missing/)
  })
})

describe('a server', () => {
  it('does not make a sieve anew whose snapshot is missing', async () => {
    const data = newFolder()
    const options = { data, memoryBytes: 2 ** 30, mostSieves: 10 }
    const registry = await LocalRegistry.open(options)
    const served = await registry.create('a', {})
    const bytes = Buffer.from('https://example.com/')
    await served.add({ bytes, starts: Uint32Array.of(0), ends: Uint32Array.of(bytes.length) })
    await registry.close()
    const folder = join(data, 'a')
    rmSync(join(folder, snapshotName(1)))
    const before = readdirSync(folder)
    const again = await LocalRegistry.open(options).catch((error: Error) => error)
    if (again instanceof LocalRegistry) {
      expect(again.get('a')).toBeUndefined() // set aside
      await again.close()
    } else expect(again.message).toContain(snapshotName(1))
    expect(readdirSync(folder)).toEqual(before)
  })
})

it('a repair leaves out bits that are behind the last one of an array', async () => {
  const folder = newFolder()
  const sieve = await Sieve.open(folder, { filter: 'multilayer', bitsPerLayer: 490, layers: 2 })
  sieve.addMany(batchOf(0, BATCH_URLS))
  await sieve.save()
  await sieve.close()
  const path = join(folder, snapshotName(2))
  const { version, header, chunks, end } = takeApart(readFileSync(path))
  for (const { payload } of chunks) payload[payload.length - 1]! |= 0xfc
  const texts = { headerText: JSON.stringify(header), endText: JSON.stringify(end) }
  writeFileSync(path, putTogether({ version, chunks, ...texts }))
  const damage = async () => (await verifySieve(folder)).flatMap((report) => report.damage)
  expect(await damage()).toEqual([expect.stringContaining('bits set behind its 490 bits')])
  await repairStore(folder)
  expect(await damage()).toEqual([])
  const repaired = await Sieve.open(folder, { readOnly: true })
  expect(held(repaired, 0)).toBe(BATCH_URLS)
  expect(repaired.stats().fill).toBeLessThan(0.5)
})

it('a reader writes no copy in which URLs count that its writer could not log', async () => {
  const folder = newFolder()
  const sieve = await Sieve.open(folder, { filter: 'blocked', expectedUrls: 10_000, falsePositiveRate: 1e-9 })
  sieve.addMany(batchOf(0, BATCH_URLS))
  await sieve.close()
  const reader = await Sieve.open(folder, { readOnly: true })
  await reader.save(join(folder, 'copy.sieve'))
  const log = readFileSync(join(folder, logName(1)))
  const hashes = recordsOf(log)[0]!.payload
  writeFileSync(
    join(folder, logName(1)),
    Buffer.concat([log, encodeRecord(OP.unloggedHashes, 1, hashes.subarray(0, 8))]),
  )
  const other = await Sieve.open(folder, { readOnly: true })
  expect(held(other, 0)).toBe(BATCH_URLS - 1)
  const refused = { code: 'disk', message: expect.stringContaining('has marked 1 URLs') }
  await expect(other.save(join(folder, 'copy.sieve'))).rejects.toMatchObject(refused)
})
