// URLs of one site as a crawler meets them one after the other: templates that count, date or number their pages,
// and the opposite, URLs that have nothing in common.

/** URL number i of a site; different numbers give different URLs. */
export type Template = (i: number) => string

const DAY_MS = 86_400_000
const STORIES_A_DAY = 40
const LETTERS = 'abcdefghijklmnopqrstuvwxyz'

/** A template for each way that sites name their pages. `random` chooses where they start. */
export function siteTemplates(random: () => number): Readonly<Record<'counter' | 'dates' | 'ids', Template>> {
  const first = 1_000_000 + Math.floor(random() * 1_000_000)
  const firstDay = Date.UTC(2001 + Math.floor(random() * 10), 0, 1)
  const step = Math.floor(random() * 2 ** 31) * 2 + 1
  const offset = Math.floor(random() * 2 ** 32)
  return {
    counter: (i) => `https://www.example.com/item/${first + i}`,
    dates(i) {
      const day = new Date(firstDay + Math.floor(i / STORIES_A_DAY) * DAY_MS).toISOString().slice(0, 10)
      return `https://news.example.org/${day.replaceAll('-', '/')}/story-${i % STORIES_A_DAY}.html`
    },
    // An odd factor modulo 2^32 repeats nothing.
    ids: (i) =>
      `https://video.example.net/watch?v=${((Math.imul(i, step) + offset) >>> 0).toString(16).padStart(8, '0')}`,
  }
}

/** URLs with random letters for host and path; the number in base 26 at the end keeps them apart. */
export function unlikeUrls(random: () => number): Template {
  const word = (least: number, most: number) => {
    let text = ''
    for (let left = least + Math.floor(random() * (most - least + 1)); left > 0; left--) {
      text += LETTERS[Math.floor(random() * 26)]
    }
    return text
  }
  const numbered = (i: number): string =>
    i < 26 ? LETTERS[i]! : numbered(Math.floor(i / 26) - 1) + LETTERS[i % 26]
  return (i) => `https://${word(4, 14)}.${word(2, 3)}/${word(3, 12)}/${word(3, 16)}-${numbered(i)}`
}

/** URLs [0, count) of a template as newline-separated bytes, and where each begins. */
export function templateLines(template: Template, count: number): { bytes: Uint8Array; starts: Uint32Array } {
  const starts = new Uint32Array(count + 1)
  let text = ''
  let length = 0
  for (let i = 0; i < count; i++) {
    starts[i] = length
    const url = template(i)
    text += `${url}\n`
    length += url.length + 1
  }
  starts[count] = length
  return { bytes: new TextEncoder().encode(text), starts }
}
