// The rows to search: those of a table, or documents, one row per file. Each row's text is read once to build an index,
// and selected rows again to check and print them.
import type { Bytes } from './bytes.ts'
import { chooseColumns, Table, type TableOptions } from './table.ts'

export interface Row {
  /** From 0. */
  readonly row: number
  readonly fields: readonly string[]
  /** The text that is searched. */
  readonly text: string
}

/** What is needed to read a row again. */
export interface CorpusShape {
  readonly columns: readonly string[]
  readonly places: Float64Array
}

export interface Corpus {
  /** Its files; their content decides whether an index is still valid. */
  readonly paths: readonly string[]
  /** Calls back with the text of each row, in order. */
  scan(onText: (text: string) => void): Promise<CorpusShape>
  read(shape: CorpusShape, rows: Iterable<number>): AsyncIterable<Row> | Iterable<Row>
  /** Which of the shape's columns are searched. */
  searched(shape: CorpusShape): number[]
  close(): void
}

/** Separates the words of one field from those of the next. */
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

/** `open` returns the bytes of a document. */
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
