import { describe, expect, it } from 'vitest'
import { type Bytes, memoryBytes } from '../../src/search/bytes.ts'
import { chooseColumns, Table, type TableOptions } from '../../src/search/table.ts'
import { randomFrom } from '../support/random.mjs'

const usual: TableOptions = { delimiter: ',', header: true, ragged: false }

async function readAll(content: string | Buffer | Bytes, options: Partial<TableOptions> = {}) {
  const isBytes = typeof content === 'object' && 'sizeBytes' in content
  const bytes = isBytes ? content : memoryBytes(Buffer.from(content))
  const table = new Table('t.csv', bytes, { ...usual, ...options })
  const rows: string[][] = []
  const shape = await table.scan(
    () => {},
    (fields) => rows.push([...fields]),
  )
  const again = [...table.read(shape, rows.keys())].map(({ fields }) => fields)
  return { columns: shape.columns, rows, again, table, shape }
}

const hard = '\ufefftitle,"the, note"\r\n"a ""q"", b","one\r\ntwo"\r\n\r\nplain,é𝄞\r\n"",\r\nlast,"\n"'
const hardRows = [
  ['a "q", b', 'one\r\ntwo'],
  ['plain', 'é𝄞'],
  ['', ''],
  ['last', '\n'],
]

describe('table', () => {
  it('reads quotes, delimiters and newlines in fields, BOM, CRLF, empty lines and no newline at the end', async () => {
    const { columns, rows, again } = await readAll(hard)
    expect(columns).toEqual(['title', 'the, note'])
    expect(rows).toEqual(hardRows)
    expect(again).toEqual(hardRows)
  })

  it('reads any rows again, alone or together', async () => {
    const { table, shape } = await readAll(hard)
    for (const pick of [[0], [1], [2], [3], [0, 2], [1, 3]]) {
      expect([...table.read(shape, pick)].map(({ row }) => row)).toEqual(pick)
      expect([...table.read(shape, pick)].map(({ fields }) => fields)).toEqual(
        pick.map((row) => hardRows[row]),
      )
    }
  })

  it('reads random tables as they were written, and each row again', async () => {
    const random = randomFrom(11)
    const pieces = ['a', 'é', '"', ',', '\n', '\r\n', ' ', 'x,y', '千']
    for (let round = 0; round < 60; round++) {
      const newline = round % 2 ? '\r\n' : '\n'
      const rows = Array.from({ length: 1 + Math.floor(random() * 1500 * (round === 0 ? 1 : 0.01)) }, () =>
        Array.from({ length: 3 }, () =>
          Array.from(
            { length: Math.floor(random() * 5) },
            () => pieces[Math.floor(random() * pieces.length)],
          ).join(''),
        ),
      )
      const lines = [['a', 'b', 'c'], ...rows].map((r) =>
        r.map((f) => `"${f.replaceAll('"', '""')}"`).join(','),
      )
      const read = await readAll(lines.join(newline))
      expect(read.rows).toEqual(rows)
      expect(read.again).toEqual(rows)
    }
  })

  it('is the same cut into single bytes', async () => {
    const whole = Buffer.from(hard)
    // Reads of the stream come in pieces of one byte; reads of rows come whole.
    const bytes: Bytes = {
      sizeBytes: whole.length,
      read: (from, to) => whole.subarray(from, to),
      close() {},
    }
    const parser = (await import('csv-parse')).parse({
      bom: true,
      skip_empty_lines: true,
      relax_column_count: true,
      record_delimiter: ['\r\n', '\n', '\r'],
      info: true,
    })
    const ends: number[] = []
    parser.on('data', ({ info }: { info: { bytes: number } }) => ends.push(info.bytes))
    for (const byte of whole) parser.write(Buffer.from([byte]))
    parser.end()
    await new Promise((done) => parser.on('end', done))
    const { shape } = await readAll(bytes)
    expect(ends).toEqual([...shape.places])
  })

  it('places of a file that are not those of all rows are refused', async () => {
    const text = 'a,b\n1,2\n3,4\n5,6\n\n'
    const table = new Table('t', memoryBytes(Buffer.from(text)), {
      delimiter: ',',
      header: true,
      ragged: false,
    })
    const shape = await table.scan(
      () => {},
      () => {},
    )
    const read =
      (places: readonly number[], columns = shape.columns) =>
      () =>
        [...table.read({ columns, places: Float64Array.from(places) }, [0])].length
    const places = [...shape.places]
    expect(read(places)()).toBe(1)
    for (const forged of [
      places.slice(0, -1),
      places.slice(1),
      [...places.slice(0, -1), 2 ** 40],
      [2 ** 40, 2 ** 41],
    ])
      expect(read(forged)).toThrow('the rows of the index are not those of t')
    expect(read(places, ['a', 'c'])).toThrow('delete the index to rebuild it')
  })

  it('takes other delimiters, and a table without a header', async () => {
    expect((await readAll('a\tb\n1, 2\t3\n', { delimiter: '\t' })).rows).toEqual([['1, 2', '3']])
    const { columns, again } = await readAll('\ufeffx;y\nz;w\n', { delimiter: ';', header: false })
    expect(columns).toEqual(['1', '2'])
    expect(again).toEqual([
      ['x', 'y'],
      ['z', 'w'],
    ])
  })

  it.each([
    ['a,b\n1,2\n\n"x\ny",2\n3\n', /^t\.csv, line 6: 1 field, expected 2 as in the first line; --ragged/],
    ['a,b\r\n"1\r\n1",2\r\n3,4,5\r\n', /^t\.csv, line 4: 3 fields, expected 2/],
    ['a,b\n1,2\n"open,3\n4,5\n', /^t\.csv, in the row at line 3: Quote Not Closed/],
    ['a,b\n1,2\n"x"y,3\n', /^t\.csv, in the row at line 3: Invalid Closing Quote/],
    ['', /^t\.csv is empty/],
    ['\n\n', /^t\.csv is empty/],
    ['a,b\n', /^t\.csv has no rows/],
    [Buffer.from('\ufeffa,b\n', 'utf16le'), /^t\.csv is in UTF-16/],
  ])('refuses %j', async (content, message) => {
    await expect(readAll(content)).rejects.toThrow(message)
  })

  it('fills and cuts ragged rows where that is asked for', async () => {
    const { again } = await readAll('a,b\n1\n2,3,4\n', { ragged: true })
    expect(again).toEqual([
      ['1', ''],
      ['2', '3'],
    ])
  })

  it('chooses columns by name', () => {
    expect(chooseColumns('t.csv', ['a', 'b', 'a'], [])).toEqual([0, 1, 2])
    expect(chooseColumns('t.csv', ['a', 'b', 'a'], ['a'])).toEqual([0, 2])
    expect(() => chooseColumns('t.csv', ['a', 'b'], ['c'])).toThrow(
      "no column 'c' in t.csv: expected one of a, b",
    )
  })
})
