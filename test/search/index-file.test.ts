import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { DatasetBuilder } from '../../src/search/dataset.ts'
import { decodeIndex, encodeIndex, INDEX_VERSION, type Index } from '../../src/search/index-file.ts'
import { distinctWords } from '../../src/search/words.ts'
import { madeTexts } from './tables.ts'

async function indexOf(
  texts: readonly string[],
  places = Float64Array.from([3, 2 ** 40, 2 ** 41]),
): Promise<Index> {
  const builder = await DatasetBuilder.create()
  for (const text of texts) builder.add(distinctWords(text))
  return {
    origin: { settings: '{}', files: [{ sizeBytes: 1, modifiedMs: 2.5, sha256: 'ab' }] },
    dataset: builder.finish(),
    columns: ['title', 'é'],
    places,
  }
}

describe('index file', () => {
  it('comes back as it was, and answers the same', async () => {
    const places = Float64Array.from({ length: 701 }, (_, row) => 3 + row * 2 ** 31)
    const index = await indexOf(madeTexts(700, { most: 30 }), places)
    const file = encodeIndex(index)
    const read = await decodeIndex('x', file)
    expect(read.origin).toEqual(index.origin)
    expect(read.columns).toEqual(index.columns)
    expect(read.places).toEqual(index.places)
    expect(read.dataset.counts).toEqual(index.dataset.counts)
    for (const words of [['ba'], ['lo', 'mi'], ['absent']]) {
      expect(read.dataset.ask(words)).toEqual(index.dataset.ask(words))
    }
    expect(encodeIndex(read).equals(file)).toBe(true)
  })

  // Made by this test on 2026-11-15: the bytes of version 1 must not change while the version does not.
  it('has the bytes of version 1', async () => {
    const file = encodeIndex(await indexOf(['The Dark Knight', 'Dark City', 'Amélie', '']))
    expect(file.subarray(0, 12).toString('hex')).toBe('89555349580d0a1a01000000')
    expect(createHash('sha256').update(file).digest('hex')).toBe(
      '117757730080d9c61522740155a003525dfbb2174516ed2acf1429995f6d3884',
    )
  })

  it('refuses what is no index, another version, and any damage', async () => {
    const file = encodeIndex(await indexOf(['a b', 'c']))
    await expect(decodeIndex('x', Buffer.from('title,year\n'))).rejects.toThrow(
      /^x is not a search index: expected/,
    )
    await expect(decodeIndex('x', Buffer.alloc(0))).rejects.toThrow(/got nothing/)
    const other = Buffer.from(file)
    other.writeUInt32LE(INDEX_VERSION + 1, 8)
    await expect(decodeIndex('x', other)).rejects.toThrow(
      /^index x has version 2: this urlsieve reads version 1/,
    )
    for (let at = 12; at < file.length; at++) {
      const damaged = Buffer.from(file)
      damaged[at]! ^= 1 << (at & 7)
      await expect(decodeIndex('x', damaged)).rejects.toThrow(/^index x is damaged: its checksum/)
    }
    for (let length = 12; length < file.length; length++) {
      await expect(decodeIndex('x', file.subarray(0, length))).rejects.toThrow(/^index x is damaged/)
    }
  })

  it('refuses bounds that do not fit each other, though the checksum does', async () => {
    const texts = ['one', 'two three', 'four', '', 'five', 'six', 'seven', 'eight nine', 'ten']
    const places = () => Float64Array.from({ length: 10 }, (_, row) => 5 + row * 7)
    const forged = async (forge: (index: Index) => Index) =>
      decodeIndex('x', encodeIndex(forge(await indexOf(texts, places()))))
    await expect(forged((index) => index)).resolves.toBeDefined()
    const withCounts = (index: Index, rows: number, of = places()) => {
      const { counts, dictionary, rowFilters } = index.dataset
      const dataset = { counts: { ...counts, rows }, dictionary, rowFilters } as Index['dataset']
      return { ...index, dataset, places: of }
    }
    await expect(forged((index) => withCounts(index, 7))).rejects.toThrow(/places 10: expected 8, for 7 rows/)
    await expect(forged((index) => withCounts(index, 7, places().subarray(0, 8)))).rejects.toThrow(/a row 8/)
    await expect(forged((index) => withCounts(index, 9, new Float64Array(0)))).rejects.toThrow(/one per file/)
    await expect(forged((index) => ({ ...index, places: places().fill(5, 0, 3) }))).rejects.toThrow(/a place/)
    await expect(
      forged((index) => {
        index.dataset.rowFilters.bands[1]!.rows[0] = 0
        return index
      }),
    ).rejects.toThrow(/row 0 is in two bands/)
    await expect(
      forged((index) => {
        index.dataset.rowFilters.bands[0]!.signatures.columns.fill(0)
        return index
      }),
    ).rejects.toThrow(/a filter of a row has no word/)
  })
})
