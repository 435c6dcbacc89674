// D20: dumps that were forged with right checksums. The server answers each with one line, takes no memory for it, answers
// others meanwhile and starts again afterwards; the command and the library refuse the same files, and verify finds them.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { Sieve } from '../../src/index.ts'
import { verifySieve } from '../../src/store/verify.ts'
import { served } from '../server/serving.ts'
import { type Parts, putTogether, takeApart } from './forge.mjs'

const folder = mkdtempSync(join(tmpdir(), 'urlsieve-forged-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const raw = { profile: 'raw', key: new Uint8Array(16).fill(9) } as const
const items = Array.from({ length: 500 }, (_, i) => `item ${i}`)

async function parts(options: object): Promise<Parts> {
  const path = join(folder, 'honest.sieve')
  const sieve = await Sieve.create({ ...raw, ...options })
  sieve.addMany(items)
  await sieve.save(path)
  return takeApart(readFileSync(path))
}

const sealed = ({ version, header, chunks, end }: Parts) =>
  putTogether({ version, headerText: JSON.stringify(header), chunks, endText: JSON.stringify(end) })

const blocked = { filter: 'blocked', expectedUrls: 1000, falsePositiveRate: 0.01 } as const

const forgeries: readonly (readonly [string, object, (parts: Parts) => void])[] = [
  [
    'a table without an empty slot',
    {},
    ({ chunks: [segment] }) => {
      const slots = (segment!.payload.length - 64) / 8
      for (let i = 0; i < slots; i++) segment!.payload.writeBigUInt64LE(BigInt(i + 1), 64 + 8 * i)
      segment!.payload.writeUInt32LE(slots, 0)
    },
  ],
  [
    'a hash where no search finds it',
    {},
    ({ chunks: [segment] }) => {
      const { payload } = segment!
      payload.writeBigUInt64LE(7n, payload.length - 8) // its own bucket is the first
      payload.writeUInt32LE(payload.readUInt32LE(0) + 1, 0)
    },
  ],
  ['2^31 hashes', blocked, ({ header }) => Object.assign(header.plan, { hashes: 2 ** 31 })],
  ['bits beyond the size', blocked, ({ header }) => Object.assign(header.plan, { bits: 2 ** 34 })],
  [
    'bits and size beyond the pieces',
    blocked,
    ({ header }) => Object.assign(header.plan, { bits: 2 ** 34, sizeBytes: 2 ** 31 }),
  ],
  [
    'zeros of two gigabytes',
    blocked,
    ({ header, chunks }) => {
      Object.assign(header.plan, { bits: 2 ** 34, sizeBytes: 2 ** 31 })
      chunks[0] = { ...chunks[0]!, tag: 'ZERO', size: 2n ** 31n, payload: Buffer.alloc(0) }
    },
  ],
  [
    'a short segment',
    {},
    ({ chunks: [segment] }) => {
      segment!.payload = Buffer.from(segment!.payload.subarray(0, 128))
      segment!.size = 128n
    },
  ],
  [
    'a segment of no slots',
    {},
    ({ chunks: [segment] }) => {
      segment!.payload = Buffer.from(segment!.payload.subarray(0, 64))
      segment!.size = 64n
    },
  ],
  [
    'a directory of 2^30 entries',
    {},
    ({ chunks: [segment] }) => {
      segment!.array = 30
      segment!.payload.writeUInt32LE(2 ** 30, 8)
    },
  ],
  [
    '4,096 shards',
    {},
    ({ header }) => Object.assign(header, { shards: Array.from({ length: 4096 }, (_, i) => i) }),
  ],
  ['shards that do not begin at 0', {}, ({ header }) => Object.assign(header, { shards: [5] })],
  [
    '1,000 shards of each generation',
    { filter: 'window', windowUrls: 400, generations: 10 },
    ({ chunks }) => {
      const froms = Buffer.alloc(4000)
      for (let i = 0; i < 1000; i++) froms.writeUInt32LE(i, 4 * i)
      for (const chunk of chunks.filter(({ array }) => array % 256 === 255)) {
        chunk.payload = Buffer.concat([chunk.payload, froms])
        chunk.size = BigInt(chunk.payload.length)
      }
    },
  ],
  ['rules that there are not', {}, ({ header }) => Object.assign(header.profile, { rules: ['constructor'] })],
  ['counts of shards that there are not', {}, ({ end }) => end.counts.push(...Array(1000).fill([1, 2, 3]))],
  ['a negative number of URLs', {}, ({ end }) => Object.assign(end, { urls: -5 })],
]

describe.each(forgeries)('a dump with %s', (_, options, forge) => {
  const forged = async () => {
    const honest = await parts(options)
    forge(honest)
    return sealed(honest)
  }

  it('is refused by the library in one line, and found by verify', async () => {
    const path = join(folder, 'forged.sieve')
    writeFileSync(path, await forged())
    const before = process.memoryUsage.rss()
    const trouble = await Sieve.load(path).then(
      (sieve) => (sieve.hasMany(items).includes(0) ? 'loses URLs' : 'is loaded'),
      (error: Error) => `${error.name}: ${error.message}`,
    )
    // Zeros take no memory before they are used: a file may have as many as it says it has.
    if (_ === 'zeros of two gigabytes') return expect(trouble).toBe('loses URLs')
    expect(trouble).toMatch(/^SieveError: [^\n]*$/)
    expect(process.memoryUsage.rss() - before).toBeLessThan(300 * 1024 ** 2)
    const [report] = await verifySieve(path)
    expect(report!.damage).toEqual([trouble.replace('SieveError: ', '')])
  })

  it.each(['in memory', 'with data'])('is refused by a server %s, which starts again', async (where) => {
    const data = where === 'with data' ? mkdtempSync(join(folder, 'data-')) : undefined
    const registry = { memoryBytes: 64 * 1024 ** 2, ...(data && { data }) }
    const bytes = await forged()
    const bloom = { capacity: 1000, errorRate: 0.01, expansion: 2 }
    const server = await served({ registry })
    const client = await server.connect()
    const head = `USBLOOM1${JSON.stringify({ bytes: bytes.length, bloom })}`
    expect(await client.ask('BF.LOADCHUNK', 'forged', '1', head)).toBe('OK')
    const reply = await client.ask('BF.LOADCHUNK', 'forged', String(bytes.length + 1), bytes)
    expect(reply).toMatch(/^!(?:ERR received bad data|OOM no memory)[^\n]*$/)
    expect(await client.ask('BF.EXISTS', 'forged', 'item 1')).toBe(0)
    expect(await client.ask('EXISTS', 'forged')).toBe(0)
    expect(server.registry.sizeBytes).toBe(0)
    await server.close()
    if (!data) return
    const again = await served({ registry })
    expect(again.registry.list()).toEqual([])
    await again.close()
  })
})

it.each([
  { capacity: 0, errorRate: 0.01, expansion: 2 },
  { capacity: -1, errorRate: 0.01, expansion: 2 },
  { capacity: 100, errorRate: 1, expansion: 2 },
  { capacity: 100, errorRate: 0.01, expansion: 0.5 },
  null,
])('a dump of a filter of %j is refused, and never asked how it has grown', async (bloom) => {
  const server = await served({ registry: { memoryBytes: 64 * 1024 ** 2 } })
  const client = await server.connect()
  const head = `USBLOOM1${JSON.stringify({ bytes: 1000, bloom })}`
  expect(await client.ask('BF.LOADCHUNK', 'forged', '1', head)).toBe('!ERR received bad data')
  await server.close()
})
