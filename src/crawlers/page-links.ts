// What a page of HTML says: its title, its links as absolute URLs, and its text.
import type { CheerioCrawlingContext } from '@crawlee/cheerio'

type CheerioAPI = CheerioCrawlingContext['$']

/** What leads to another page. */
const PAGES = 'a[href], area[href], frame[src], iframe[src]'
/** What leads to anything. */
const ALL = `${PAGES}, link[href], img[src], script[src], source[src], audio[src], video[src], embed[src]`

/** Whitespace as a reader sees it. */
const squeezed = (text: string) => text.replace(/\s+/g, ' ').trim()

export const titleOf = ($: CheerioAPI) => squeezed($('title').first().text())

/** The http and https links of a page that lies at `url`, as often as they are there. */
export function linksOf($: CheerioAPI, url: string, allTypes: boolean): string[] {
  const base = resolved($('base[href]').first().attr('href'), url) ?? url
  return $(allTypes ? ALL : PAGES)
    .toArray()
    .map((element) => resolved($(element).attr('href') ?? $(element).attr('src'), base))
    .filter((link) => link !== null && /^https?:/.test(link)) as string[]
}

/** Without scripts and styles. Changes the page: ask for links before. */
export function textIn($: CheerioAPI): string {
  $('script, style, noscript, template').remove()
  return squeezed($('body').text())
}

// Without its fragment, which no server is told.
function resolved(link: string | undefined, base: string): string | null {
  const text = link?.trim()
  if (text === undefined || !URL.canParse(text, base)) return null
  const url = new URL(text, base)
  url.hash = ''
  return url.href
}
