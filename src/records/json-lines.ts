// JSON lines: the URL at a path such as `.request.url`. Also CDX and CDXJ, the indexes of web archives.
import { lineEnd, type RowFormat } from './row-reader.ts'

/** One JSON object per line. `path` is a path of names, with or without the first dot; by default `url`. */
export class JsonRows implements RowFormat {
  readonly #path: readonly string[]
  readonly rowEnd = lineEnd

  constructor(path = 'url') {
    this.#path = path.replace(/^\./, '').split('.')
  }

  urlOf(row: Buffer): string | null {
    return stringAt(row.toString(), this.#path)
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

  urlOf(row: Buffer): string | null {
    return row.toString().split(' ', this.#column + 1)[this.#column] ?? null
  }
}

/** CDXJ: a sortable key, a time, and a JSON object with the URL. */
export class CdxjRows implements RowFormat {
  readonly rowEnd = lineEnd

  urlOf(row: Buffer): string | null {
    const text = row.toString()
    const brace = text.indexOf('{')
    return brace < 0 ? null : stringAt(text.slice(brace), ['url'])
  }
}

function stringAt(json: string, path: readonly string[]): string | null {
  let value: unknown
  try {
    value = JSON.parse(json)
  } catch {
    return null
  }
  for (const name of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return null
    value = (value as Record<string, unknown>)[name]
  }
  return typeof value === 'string' ? value : null
}
