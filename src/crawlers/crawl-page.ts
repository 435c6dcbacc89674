// The report of a crawl as one HTML page without scripts or network access: pages, shapes, traps, repeats and errors. URLs
// and texts are those of the pages: they are escaped, and never links.
import { type Html, html, page, Html as Raw } from '../lab/page.ts'
import { formatCount } from '../quantities.ts'
import { SHAPE_STYLE, shapeSections } from '../shapes/shape-page.ts'
import { percent } from '../shapes/traps.ts'
import type { QueueStats } from './crawl-queue.ts'
import type { CrawlCounts } from './crawl-report.ts'
import type { RuleCounts } from './crawl-rules.ts'
import type { LimitedShape } from './limited-urls.ts'
import type { Counted, PageTally } from './page-tally.ts'

export interface CrawlPageData {
  readonly urls: readonly string[]
  readonly seconds: number
  readonly tally: PageTally
  readonly counts: CrawlCounts &
    QueueStats & {
      readonly dropped?: number
      readonly limitedShapes?: readonly LimitedShape[]
      readonly learned?: RuleCounts
    }
}

/** Characters of a URL or text that are shown. */
const MOST_SHOWN = 400
/** Shapes that hit a limit. */
const MOST_LIMITED = 100

export function crawlPage({ urls, seconds, tally, counts }: CrawlPageData): string {
  const title = `Crawl of ${cut(urls.join(', '))}`
  const { pages, links, repeats, pending, dropped = 0, learned } = counts
  const body = html`<style>${new Raw(SHAPE_STYLE + STYLE)}</style>
<header><p class="brand">urlsieve crawl</p><h1>Crawl</h1>
<p class="lead"><code>${cut(urls.join(' '))}</code></p>
<p class="small">This run: ${seconds.toFixed(1)} s${pending > 0 && `; ${formatCount(pending)} pages are still to be fetched`}.</p>
<dl class="facts">
${fact('pages fetched', pages)}${fact('links found', links)}${fact('repeats skipped', repeats)}${fact('dropped by limits', dropped)}
${learned && fact('saved by learned rules', learned.saved)}${fact('not HTML', counts.otherTypes)}${fact('failed', counts.failed)}
${fact('of the same or nearly the same text', counts.same + counts.near)}
</dl></header>
<main>
${pagesSection(tally)}
${section('Left out', leftOut(counts))}
${trapsSection(counts.limitedShapes ?? [])}
${learned && learned.rules.length > 0 && section('Learned rules', html`<ul>${learned.rules.map((rule) => html`<li>${cut(rule)}</li>`)}</ul>`)}
${repeatsSection(tally)}
${errorsSection(tally)}
<section class="part"><h2>Shapes</h2><p>The kinds of URLs that were fetched, as wide as their shares.</p></section>
${shapeSections(tally.shapes())}
</main>`
  return page(title, 'Pages, shapes, traps, repeats and errors of a crawl', body)
}

const fact = (name: string, count: number) =>
  html`<div><dt>${name}</dt><dd><b>${formatCount(count)}</b></dd></div>`

const section = (title: string, content: Html) =>
  html`<section class="part"><h2>${title}</h2>${content}</section>`

function pagesSection(tally: PageTally): Html {
  return section(
    'Pages',
    html`<div class="columns">
${bars('by status', tally.statuses)}${bars('by depth', tally.depths)}${tally.types.length > 0 && bars('by type, not HTML', tally.types)}
</div>${tally.canonicalCount > 0 && html`<p class="small">${formatCount(tally.canonicalCount)} pages name another URL as their canonical one.</p>`}`,
  )
}

/** Rows with a bar each, as wide as the number. */
function bars(title: string, counted: Counted): Html {
  const most = Math.max(1, ...counted.map(([, count]) => count))
  const rows = counted.map(
    ([name, count]) =>
      html`<tr><th scope="row">${cut(name)}</th><td class="n">${formatCount(count)}</td><td class="bar"><span style="width:${((count / most) * 100).toFixed(2)}%"></span></td></tr>`,
  )
  return html`<div class="scroll tall" tabindex="0"><table class="bars"><caption>${title}</caption><tbody>${rows}</tbody></table></div>`
}

/** What was not followed or not read, with the option that decides. */
function leftOut(counts: CrawlCounts): Html {
  const all: readonly (readonly [string, number])[] = [
    ['links to other hosts (--all-hosts)', counts.elsewhere],
    ['links by nofollow (--ignore-nofollow, --ignore-meta-robots, --ignore-x-robots-tag)', counts.nofollow],
    ['pages disallowed by robots.txt (--ignore-robots)', counts.closed],
    ['pages of hosts whose robots.txt is unreachable', counts.unreachable],
    ['links deeper than --depth', counts.deeper],
    ['links longer than --max-url', counts.longLinks],
    ['links past --max-links', counts.linksOver],
    ['pages cut by --max-body, --timeout or --max-links', counts.cut],
    ['redirects to other hosts', counts.redirectsElsewhere],
    ['other redirects not followed', counts.redirectsRefused - counts.redirectsElsewhere],
    ['repeated texts whose links were not followed (--content skip)', counts.skipped],
  ]
  const rows = all.filter(([, count]) => count > 0)
  if (rows.length === 0) return html`<p>Nothing.</p>`
  return table(
    ['what', 'number'],
    rows.map(([what, count]) => html`<tr><td>${what}</td><td class="n">${formatCount(count)}</td></tr>`),
  )
}

function trapsSection(shapes: readonly LimitedShape[]): Html {
  if (shapes.length === 0) return section('Traps', html`<p>No shape of URLs hit a limit.</p>`)
  const all = shapes.reduce((sum, { dropped }) => sum + dropped, 0)
  const rows = shapes
    .slice(0, MOST_LIMITED)
    .map(
      ({ shape, limit, reason, dropped }) =>
        html`<tr><td><code>${cut(shape)}</code></td><td>${limit}</td><td>${cut(reason)}</td><td class="n">${formatCount(dropped)}</td><td class="n">${percent(dropped / all)}</td></tr>`,
    )
  return section(
    'Traps',
    html`<p>Shapes of URLs that hit a limit, and what was dropped.</p>${table(['shape', 'limit', 'reason', 'dropped', 'share'], rows)}${rest(shapes.length, rows.length, 'shapes')}`,
  )
}

function repeatsSection({ repeats, repeatCount }: PageTally): Html {
  if (repeatCount === 0)
    return section(
      'Repeats',
      html`<p>No page has the text of another, or texts were not compared (--content).</p>`,
    )
  const rows = repeats.map(
    ({ url, of, distance }) =>
      html`<tr><td><code>${cut(url)}</code></td><td><code>${cut(of)}</code></td><td>${distance === 0 ? 'the same text' : `differs in ${distance} of 64 bits`}</td></tr>`,
  )
  return section(
    'Repeats',
    html`${table(['page', 'repeats', 'how'], rows)}${rest(repeatCount, rows.length, 'pages')}`,
  )
}

function errorsSection({ failed, failedCount }: PageTally): Html {
  if (failedCount === 0) return section('Errors', html`<p>None.</p>`)
  const rows = failed.map(
    ({ url, error }) => html`<tr><td><code>${cut(url)}</code></td><td>${cut(error)}</td></tr>`,
  )
  return section('Errors', html`${table(['page', 'reason'], rows)}${rest(failedCount, rows.length, 'pages')}`)
}

const rest = (all: number, shown: number, what: string) =>
  all > shown && html`<p class="small">${formatCount(all - shown)} further ${what} are not listed.</p>`

const NUMBERS = new Set(['number', 'dropped', 'share'])

const table = (heads: readonly string[], rows: readonly Html[]) =>
  html`<div class="scroll tall" tabindex="0"><table><thead><tr>${heads.map((head) => html`<th scope="col"${NUMBERS.has(head) && new Raw(' class="n"')}>${head}</th>`)}</tr></thead><tbody>${rows}</tbody></table></div>`

const cut = (text: string) => (text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}…` : text)

const STYLE = `
.part { padding-top: 2.5rem; }
.facts b { font-size: 1.5rem; font-weight: 600; }
.columns { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 18rem), 1fr)); gap: 1.25rem; align-items: start; }
.bars caption { padding: .5rem .75rem; }
.bars th { font-weight: 500; overflow-wrap: anywhere; }
.bar { width: 45%; padding-right: .75rem; }
.bar span { display: block; height: .75rem; margin-top: .3rem; min-width: 2px; border-radius: 3px; background: var(--series-1); }
`
