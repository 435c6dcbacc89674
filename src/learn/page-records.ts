// Pages with a digest of their content, one a line, in the formats people have: TSV (URL, digest, SimHash, length), JSON
// lines (also those of `crawl --content`), CDX and CDXJ. A line that is none of them is counted, and left out.

export interface PageRecord {
  readonly url: string
  /** Pages with the same digest have the same content. */
  readonly digest: string
  /** Of the text, 64 bits. */
  readonly simhash?: bigint
  /** Characters of the text. */
  readonly length?: number
  /** A page of nearly the same text, where the digest cannot show it. */
  readonly near?: string
}

/** The page of a line, or null when the line is none: a header, an error page, or something else. */
export function parsePageRecord(line: string): PageRecord | null {
  if (line.startsWith('{')) return fromJson(line)
  if (line.includes('\t')) return fromTsv(line.split('\t'))
  const brace = line.indexOf(' {')
  if (brace > 0) return fromJson(line.slice(brace + 1))
  return fromCdx(line.trim().split(/ +/))
}

function fromTsv([url = '', digest = '', simhash, length]: readonly string[]): PageRecord | null {
  if (!isUrl(url) || digest === '') return null
  const isHash = simhash !== undefined && /^[0-9a-f]{16}$/i.test(simhash)
  const isLength = length !== undefined && /^\d{1,12}$/.test(length)
  return {
    url,
    digest,
    ...(isHash && { simhash: BigInt(`0x${simhash}`) }),
    ...(isLength && { length: Number(length) }),
  }
}

// CDX: key, timestamp, URL, type, status, digest, …
function fromCdx([, , url = '', , status = '', digest = '']: readonly string[]): PageRecord | null {
  if (!isUrl(url) || !isFound(status) || digest === '' || digest === '-') return null
  return { url, digest }
}

function fromJson(text: string): PageRecord | null {
  let record: Record<string, unknown>
  try {
    record = JSON.parse(text) as Record<string, unknown>
  } catch {
    return null
  }
  if (record === null || typeof record !== 'object') return null
  const { url, status, same, near, simhash, length } = record
  if (typeof url !== 'string' || !isUrl(url) || !isFound(status)) return null
  // A page of `crawl` whose text was not compared.
  if (record.short === true || record.cut !== undefined || record.error !== undefined) return null
  // What `crawl --content` writes names the first page of the same text.
  const digest = record.digest ?? record.hash ?? same ?? (isCrawled(record) ? url : undefined)
  if (typeof digest !== 'string' || digest === '') return null
  const isHash = typeof simhash === 'string' && /^[0-9a-f]{16}$/i.test(simhash)
  return {
    url,
    digest,
    ...(isHash && { simhash: BigInt(`0x${simhash}`) }),
    ...(typeof length === 'number' && { length }),
    ...(typeof near === 'string' && { near }),
  }
}

/** A line of our crawler: it has a depth. */
const isCrawled = ({ depth }: Record<string, unknown>) => typeof depth === 'number'

const isUrl = (text: string) => /^[a-z][a-z0-9+.-]*:\/\/[^\s/]/i.test(text)

const isFound = (status: unknown) => status === undefined || status === '-' || /^2\d\d$/.test(String(status))
