// The report of shapes as one HTML page without scripts or network access: an icicle of each host's tree, as wide as the
// shares, and a table of its shapes. URLs are text here, never links: pages chose them.
import { type Html, html, page, Html as Raw } from '../lab/page.ts'
import { formatCount, formatCounted } from '../quantities.ts'
import { type PartNode, treeOfParts } from './part-tree.ts'
import type { HostShapes, Shape, ShapesReport } from './shape-report.ts'
import { formatPlace, summaryOf } from './shape-text.ts'
import { percent } from './traps.ts'

/** Narrower cells are not drawn: a share of the host. */
const LEAST_SHARE = 0.002
const ROW_REM = 1.9

export function shapesPage(report: ShapesReport): string {
  const body = html`<style>${new Raw(SHAPE_STYLE)}</style>
<header><p class="brand">urlsieve shapes</p><h1>Shapes</h1><p class="lead">${summaryOf(report)}.</p></header>
<main>
<section><h2>Hosts</h2>${icicle(hostTree(report), report.urls)}</section>
${shapeSections(report)}
</main>`
  return page('Shapes of URLs', 'Kinds of URLs with their shares', body)
}

/** A section for each host, with its icicle and table; they need `SHAPE_STYLE`. */
export function shapeSections(report: ShapesReport): Html {
  return html`${report.list.map(hostSection)}
${report.others > 0 && html`<p class="small">${formatCounted(report.others, 'URL is', 'URLs are')} on other hosts.</p>`}`
}

function hostTree({ list, urls }: ShapesReport): PartNode {
  const children = list.map((host) => treeOfParts(host))
  for (const [i, child] of children.entries()) child.count = list[i]!.count
  return { text: 'all URLs', count: urls, children }
}

function hostSection(host: HostShapes): Html {
  const suspicious = host.shapes.filter(({ traps }) => traps.length > 0)
  const share = suspicious.reduce((sum, one) => sum + one.share, 0)
  return html`<section class="host"><h2>${host.host}</h2>
<p class="small">${formatCounted(host.count, 'URL')}, ${percent(host.share)} of all; ${formatCount(suspicious.length)} of ${formatCount(host.shapes.length)} listed shapes are suspicious${suspicious.length > 0 && `, with ${percent(share)} of the URLs`}.</p>
${icicle({ ...treeOfParts(host), count: host.count }, host.count)}
<div class="scroll" tabindex="0"><table><thead><tr><th>shape</th><th class="n">URLs</th><th class="n">share</th><th class="n">different</th><th>places and findings</th></tr></thead>
<tbody>${host.shapes.map(shapeRow)}</tbody></table></div>
${host.others > 0 && html`<p class="small">${formatCounted(host.others, 'URL has another shape', 'URLs have other shapes')}.</p>`}
</section>`
}

function shapeRow(shape: Shape): Html {
  const findings = shape.traps.map(
    ({ kind, reason }) => html`<p><b class="trap ${kind}">${kind}</b> ${reason}</p>`,
  )
  const places = shape.places.length > 0 ? html`<p>${shape.places.map(formatPlace).join('; ')}</p>` : html``
  const examples = shape.examples.map((url) => html`<p class="small"><code>${url}</code></p>`)
  return html`<tr><td><details><summary><code>${shape.shape}</code></summary>${examples}</details></td><td class="n">${formatCount(shape.count)}</td><td class="n">${percent(shape.share)}</td><td class="n">${shape.distinct === null ? 'many' : formatCount(shape.distinct)}</td><td>${findings}${places}</td></tr>
`
}

/** Cells by depth: each is as wide as its share of `total`, below the one it belongs to. */
function icicle(root: PartNode, total: number): Html {
  const cells: Html[] = []
  let deepest = 0
  const draw = (node: PartNode, left: number, depth: number) => {
    const width = node.count / total
    if (width < LEAST_SHARE) return
    deepest = Math.max(deepest, depth)
    const trap = node.shape?.traps[0]
    const label = `${node.text} · ${formatCounted(node.count, 'URL')} · ${percent(width)}${trap ? ` · ${trap.kind}: ${trap.reason}` : ''}`
    const kind = trap?.kind ?? (node.children.length === 0 ? 'leaf' : 'inner')
    cells.push(
      html`<div class="cell ${kind}" title="${label}" style="left:${(left * 100).toFixed(3)}%;width:${(width * 100).toFixed(3)}%;top:${(depth * ROW_REM).toFixed(1)}rem">${node.text}</div>`,
    )
    let at = left
    for (const child of node.children) {
      draw(child, at, depth + 1)
      at += child.count / total
    }
  }
  draw(root, 0, 0)
  const height = ((deepest + 1) * ROW_REM).toFixed(1)
  return html`<div class="icicle" role="img" aria-label="shares of the shapes of ${root.text}" style="height:${height}rem">${cells}</div>`
}

export const SHAPE_STYLE = `
header, main { max-width: 76rem; }
.icicle { position: relative; margin: 1rem 0 1.5rem; }
.cell { position: absolute; height: 1.8rem; padding: 0 .35rem; overflow: hidden; white-space: nowrap; text-overflow: ellipsis;
  font: .75rem/1.8rem ui-monospace, Menlo, Consolas, monospace; background: var(--tint); color: var(--ink);
  border: 1px solid var(--paper); border-radius: 3px; }
.cell.inner { background: var(--code); }
.cell:is(.counter, .calendar, .session, .sort, .facets, .history, .repeats, .sprawl), .trap { color: var(--paper); }
.trap { padding: .05rem .4rem; border-radius: 3px; font-size: .8125rem; }
.cell.counter, .trap.counter { background: var(--series-1); } .cell.calendar, .trap.calendar { background: var(--series-3); }
.cell.session, .trap.session { background: var(--series-2); } .cell.sort, .trap.sort { background: var(--series-4); }
.cell.facets, .trap.facets { background: var(--series-4); } .cell.history, .trap.history { background: var(--series-5); }
.cell.repeats, .trap.repeats { background: var(--series-8); } .cell.sprawl, .trap.sprawl { background: var(--series-6); }
.host { padding-top: 2.5rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .9375rem; }
th, td { text-align: left; vertical-align: top; padding: .45rem .75rem .45rem 0; border-bottom: 1px solid var(--grid); }
td p { margin: 0 0 .25rem; max-width: none; } td code { overflow-wrap: anywhere; }
th:first-child, td:first-child { padding-left: .75rem; }
.n { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
summary { cursor: pointer; }
`
