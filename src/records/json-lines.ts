// JSON lines: the URL at a path such as `.request.url`. Also CDX and CDXJ, the indexes of web archives.
import { listed } from './field-error.ts'
import { lineEnd, type RowFormat } from './row-reader.ts'

/** One JSON object per line. `path` is a path of names, with or without the first dot; by default `url`. */
export class JsonRows implements RowFormat {
  readonly #path: readonly string[]
  readonly rowEnd = lineEnd

  constructor(path = 'url') {
    this.#path = path.replace(/^\./, '').split('.')
  }

  fieldOf(row: Buffer): string | null | undefined {
    return stringAt(row.toString(), this.#path)
  }

  expected(row: Buffer): string {
    const value = parsed(row.toString())
    if (typeof value !== 'object' || value === null) return 'lines of JSON'
    return `the path of a text in its records, which have ${listed(Object.keys(value))}`
  }
}

/** CDX: fields separated by spaces; a first line ` CDX N b a …` says which they are, else the third is the URL. */
export class CdxRows implements RowFormat {
  #column = 2
  readonly rowEnd = lineEnd

  isHeader(row: Buffer): boolean {
    const text = row.toString()
    const names = /^(.)CDX\1(.+)$/.exec(text)
    if (!names) return false
    const column = names[2]!.split(names[1]!).indexOf('a')
    if (column >= 0) this.#column = column
    return true
  }

  fieldOf(row: Buffer): string | null | undefined {
    const text = row.toString()
    const field = text.split(' ', this.#column + 1)[this.#column]
    // Common Crawl calls CDXJ so, too.
    return field?.startsWith('{') ? urlInJson(text) : field
  }
}

/** CDXJ: a sortable key, a time, and a JSON object with the URL. */
export class CdxjRows implements RowFormat {
  readonly rowEnd = lineEnd

  fieldOf(row: Buffer): string | null | undefined {
    return urlInJson(row.toString())
  }
}

function urlInJson(text: string): string | null | undefined {
  const brace = text.indexOf('{')
  return brace < 0 ? undefined : stringAt(text.slice(brace), ['url'])
}

function stringAt(json: string, path: readonly string[]): string | null | undefined {
  let value = parsed(json)
  for (const name of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
    value = (value as Record<string, unknown>)[name]
  }
  return typeof value === 'string' ? value : null
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}
