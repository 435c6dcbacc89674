// Parquet columns: the same URLs as of the plain list, however they are encoded; forged and cut files end with one error.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import * as zlib from 'node:zlib'
import { parquetWriteBuffer } from 'hyparquet-writer'
import { describe, expect, it } from 'vitest'
import { SieveError } from '../../src/errors.ts'
import { type ParquetFile, readParquet } from '../../src/records/parquet.ts'
import { randomFrom } from '../support/random.mjs'

/** Forged files of each kind. */
const ROUNDS = process.env.URLSIEVE_FULL === '1' ? 20_000 : 300
const random = randomFrom(31)
const urls = Array.from({ length: 3000 }, () => `https://example.com/${Math.floor(random() * 900)}/ä?q=a\tb`)

const fileOf = (bytes: Uint8Array): ParquetFile => ({
  byteLength: bytes.length,
  read(at, length) {
    if (at < 0 || at + length > bytes.length) throw new Error('read past the end')
    return bytes.subarray(at, at + length)
  },
})

/** All URLs, in order; `rows` and `urls` of every batch agree. */
function read(bytes: Uint8Array, field?: string): string[] {
  const all: string[] = []
  for (const batch of readParquet(fileOf(bytes), field)) {
    expect(batch.ends.at(-1) ?? 0).toBe(batch.rows.length)
    all.push(...Buffer.from(batch.urls).toString().split('\n').slice(0, -1))
  }
  return all
}

const { zstdCompressSync } = zlib as unknown as { zstdCompressSync?: (bytes: Uint8Array) => Buffer }
const hasZstd = zstdCompressSync !== undefined || spawnSync('zstd', ['--version']).status === 0
const zstd = (bytes: Uint8Array) =>
  zstdCompressSync ? zstdCompressSync(bytes) : spawnSync('zstd', ['-cq'], { input: bytes }).stdout
type Encoding = 'PLAIN' | 'DELTA_LENGTH_BYTE_ARRAY' | 'DELTA_BYTE_ARRAY'
const compressors = { GZIP: zlib.gzipSync, BROTLI: zlib.brotliCompressSync, ZSTD: zstd }

function write(codec = 'SNAPPY', list: (string | null)[] = urls, encoding?: Encoding): Uint8Array {
  return new Uint8Array(
    parquetWriteBuffer({
      columnData: [
        { name: 'fetch_status', data: list.map((_, i) => i % 500), type: 'INT32' },
        { name: 'url', data: list, type: 'STRING', ...(encoding && { encoding }) },
      ],
      codec,
      compressors,
      rowGroupSize: 1000,
      pageSize: 4096,
    }),
  )
}

describe('the column of URLs', () => {
  it.each(['UNCOMPRESSED', 'SNAPPY', 'GZIP', 'BROTLI'] as const)(
    '%s, with a dictionary or plain',
    (codec) => {
      expect(read(write(codec))).toEqual(urls)
      expect(read(write(codec, urls, 'PLAIN'))).toEqual(urls)
    },
  )

  it.each(['DELTA_LENGTH_BYTE_ARRAY', 'DELTA_BYTE_ARRAY'] as const)('%s', (encoding) => {
    expect(read(write('SNAPPY', urls, encoding))).toEqual(urls)
    const list = urls.map((url, i) => (i % 7 < 3 ? null : url))
    expect(read(write('SNAPPY', list, encoding))).toEqual(list.filter((url) => url !== null))
  })

  it.skipIf(!hasZstd)('ZSTD', () => {
    expect(read(write('ZSTD'))).toEqual(urls)
  })

  // 30 rows, as DuckDB 1.5 writes them with its defaults: pages of version 1, a column with a dictionary and one without.
  it('written by DuckDB', () => {
    const bytes = readFileSync(new URL('files/duckdb.parquet', import.meta.url))
    const rows = Array.from({ length: 30 }, (_, i) => i)
    const some = rows.filter((i) => i % 5 !== 0)
    expect(read(bytes, 'url')).toEqual(some.map((i) => `https://example.com/${i % 4}/ä`))
    expect(read(bytes, 'other')).toEqual(rows.map((i) => `https://example.org/${i}`))
  })

  it('by name, number or not at all; rows without a value are left out', () => {
    const list = urls.map((url, i) => (i % 3 === 0 ? null : url))
    const bytes = write('SNAPPY', list)
    const expected = list.filter((url) => url !== null)
    expect(read(bytes)).toEqual(expected)
    expect(read(bytes, 'URL')).toEqual(expected)
    expect(read(bytes, '2')).toEqual(expected)
  })

  it('another column, or one that is not of texts, is refused', () => {
    const bytes = write()
    expect(() => read(bytes, 'nothing')).toThrow(
      "--field 'nothing': expected one of its columns fetch_status, url, or a number from 1",
    )
    expect(() => read(bytes, 'fetch_status')).toThrow(
      '--field fetch_status holds INT32: expected a column of texts',
    )
  })
})

describe('a file that is not whole', () => {
  it('cut anywhere: one error', () => {
    const bytes = write()
    for (const length of [0, 4, 11, 12, bytes.length >> 1, bytes.length - 1]) {
      expect(() => read(bytes.subarray(0, length))).toThrow('not a Parquet file that can be read')
    }
  })

  it('damaged in the second row group: the rows of the first come before the error', () => {
    const bytes = write('SNAPPY', urls, 'PLAIN')
    const at = Buffer.from(bytes).indexOf('https://example.com/', bytes.length >> 1)
    const damagedBytes = Uint8Array.from(bytes).fill(255, at - 2000, at + 2000)
    const seen: string[] = []
    expect(() => {
      for (const { urls: lines } of readParquet(fileOf(damagedBytes), 'url')) {
        seen.push(...Buffer.from(lines).toString().split('\n').slice(0, -1))
      }
    }).toThrow(SieveError)
    expect(seen.length).toBeGreaterThanOrEqual(1000)
    expect(seen.slice(0, 1000)).toEqual(urls.slice(0, 1000))
  })

  it.each(['UNCOMPRESSED', 'SNAPPY'] as const)(
    'forged at random, %s: an error of ours, or texts, in bounded time',
    (codec) => {
      const change = randomFrom(77)
      const list = urls.slice(0, 300).map((url, i) => (i % 5 === 0 ? null : url))
      for (const encoding of [undefined, 'PLAIN', 'DELTA_LENGTH_BYTE_ARRAY', 'DELTA_BYTE_ARRAY'] as const) {
        const whole = write(codec, list, encoding)
        for (let i = 0; i < ROUNDS; i++) {
          const bytes = Uint8Array.from(whole)
          // Half of the changes are in the footer, the others in the pages of the column.
          const near = i % 2 === 0 ? bytes.length - 700 : 1300
          for (let n = 0; n < 1 + (i % 3); n++) {
            bytes[Math.min(bytes.length - 1, near + Math.floor(change() * 700))] = Math.floor(change() * 256)
          }
          const begun = process.cpuUsage()
          try {
            read(bytes, 'url')
          } catch (error) {
            expect(error).toBeInstanceOf(SieveError)
          }
          expect(process.cpuUsage(begun).user).toBeLessThan(2e6)
        }
      }
    },
  )
})
