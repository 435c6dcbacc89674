// What is searched: the rows of a table, or documents, one row a file. Gives every row's text once, to make an index
// from, and any row again, to check and to show it.
import type { Bytes } from './bytes.ts'
import { chooseColumns, Table, type TableOptions } from './table.ts'

export interface Row {
  /** From 0. */
  readonly row: number
  readonly fields: readonly string[]
  /** What is searched of it. */
  readonly text: string
}

/** What has to be kept to find a row again. */
export interface CorpusShape {
  readonly columns: readonly string[]
  readonly places: Float64Array
}

export interface Corpus {
  /** Files it is made of; their content decides whether an index still fits. */
  readonly paths: readonly string[]
  /** Calls back with each row's text, in order. */
  scan(onText: (text: string) => void): Promise<CorpusShape>
  read(shape: CorpusShape, rows: Iterable<number>): AsyncIterable<Row> | Iterable<Row>
  /** Which of the shape's columns are searched. */
  searched(shape: CorpusShape): number[]
  close(): void
}

/** Words of one field do not run into the next. */
const BETWEEN = '\n'

export function tableCorpus(
  path: string,
  bytes: Bytes,
  options: TableOptions & { readonly columns: readonly string[] },
): Corpus {
  const table = new Table(path, bytes, options)
  const choose = (columns: readonly string[]) => chooseColumns(path, columns, options.columns)
  const textOf = (fields: readonly string[], searched: readonly number[]) =>
    searched.map((c) => fields[c] ?? '').join(BETWEEN)
  return {
    paths: [path],
    scan(onText) {
      let searched: number[] = []
      return table.scan(
        (columns) => {
          searched = choose(columns)
        },
        (fields) => onText(textOf(fields, searched)),
      )
    },
    *read(shape, rows) {
      const searched = choose(shape.columns)
      for (const { row, fields } of table.read(shape, rows))
        yield { row, fields, text: textOf(fields, searched) }
    },
    searched: ({ columns }) => choose(columns),
    close: () => bytes.close(),
  }
}

/** `open` gives a document's bytes. */
export function documentCorpus(paths: readonly string[], open: (path: string) => Promise<Bytes>): Corpus {
  const textOf = async (path: string) => {
    const bytes = await open(path)
    try {
      return bytes.read(0, bytes.sizeBytes).toString('utf8')
    } finally {
      bytes.close()
    }
  }
  return {
    paths,
    async scan(onText) {
      for (const path of paths) onText(await textOf(path))
      return { columns: ['file'], places: new Float64Array(0) }
    },
    async *read(_, rows) {
      for (const row of rows) yield { row, fields: [paths[row]!], text: await textOf(paths[row]!) }
    },
    searched: () => [0],
    close() {},
  }
}
