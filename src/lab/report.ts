// The lab's report: a run as one self-contained HTML file. It only shows what the experiments found.
import { formatBytes } from '../quantities.ts'
import { isNumeric, shown, withPowers } from './cells.ts'
import { draw, hasFoot, legend } from './chart/drawing.ts'
import { csv } from './csv.ts'
import type { Plot, Table } from './experiment.ts'
import { Html, html, page } from './page.ts'
import type { ExperimentRecord, Failure, Run } from './run.ts'

const WIDE = { width: 800, height: 420 }
const NARROW = { width: 330, height: 320 }
/** Text of a cell that is not broken. */
const SHORT_LETTERS = 30
/** Longer tables scroll inside their frame. */
const TALL_ROWS = 24

const whole = new Intl.NumberFormat('en-US')

export function report(run: Run): string {
  const names = run.records.map(({ title }) => title).join(', ')
  const body = html`<a class="skip" href="#results">Skip to the results</a>
${head(run)}
<main id="results" tabindex="-1">
${contents(run.records)}
${run.failures.map(failed)}
${run.records.map(section)}
</main>
<footer><p class="small">Made by <code>urlsieve lab</code>, urlsieve ${run.versions.urlsieve}. Times are of one machine and one run:
compare them with each other, not with another page. Counts and rates are the same wherever this command is run.</p></footer>`
  return page('urlsieve lab: have I seen this URL?', `Experiments with URL-seen filters: ${names}`, body)
}

function head(run: Run): Html {
  const { machine, data, versions } = run
  const facts: [string, string][] = [
    ['Data', `${whole.format(data.urls)} distinct URLs, ${formatBytes(data.bytes)}: ${data.description}`],
    ...(data.files.length > 0 ? [['Files', data.files.join(', ')] as [string, string]] : []),
    ['Seed', String(run.seed)],
    ['Date', `${run.date.slice(0, 16).replace('T', ' ')} UTC`],
    ['Took', `${Math.max(1, Math.round(run.seconds))} s${run.quick ? ', with small sizes (--quick)' : ''}`],
    ['Machine', `${machine.processor}, ${machine.cores} cores, ${formatBytes(machine.memoryBytes)}`],
    ['System', `${machine.system}, ${machine.architecture}`],
    ['Versions', `urlsieve ${versions.urlsieve}, Node ${versions.node}`],
    ...(run.commit ? [['Commit', run.commit] as [string, string]] : []),
  ]
  return html`<header>
<p class="brand">urlsieve lab</p>
<h1>Have I seen this URL?</h1>
<p class="lead">The papers’ experiments with their own settings, then the question they did not ask: what is each structure
worth at equal memory? Every number and every finding on this page was computed in the run described here.</p>
${bits(data.sha256)}
<p class="small">These URLs’ fingerprint, SHA-256 <code>${data.sha256.slice(0, 16)}…</code>: the same picture means the same data.</p>
<dl class="facts">${facts.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
<div class="repeat"><p class="small">The command that makes this page:</p><pre><code>${run.command}</code></pre></div>
</header>`
}

/** The 256 bits of the data's hash, drawn as the bit array of a filter. */
function bits(sha256: string): Html {
  const size = 12
  const across = 64
  const squares = [...sha256].flatMap((digit, d) =>
    [8, 4, 2, 1].map((bit, b) => {
      const i = d * 4 + b
      const at = `x="${(i % across) * size}" y="${Math.floor(i / across) * size}"`
      const off = Number.parseInt(digit, 16) & bit ? '' : ' class="off"'
      return new Html(`<rect${off} ${at} width="10" height="10" rx="2"/>`)
    }),
  )
  return html`<svg class="bits" viewBox="0 0 ${across * size - 2} ${4 * size - 2}" aria-hidden="true" focusable="false">${squares}</svg>`
}

function contents(records: readonly ExperimentRecord[]): Html {
  return html`<nav class="contents" aria-labelledby="contents"><h2 id="contents">What we found</h2><ol>
${records.map(
  ({ experiment, title, result }) =>
    html`<li><a href="#${experiment}">${title}</a><p>${result.finding}</p></li>
`,
)}</ol></nav>`
}

function section(record: ExperimentRecord): Html {
  const { experiment: id, title, source, asks, result, command, data, seconds } = record
  const [first] = result.tables
  const download = first && `data:text/csv;charset=utf-8,${encodeURIComponent(csv(first))}`
  return html`<section class="experiment" id="${id}" aria-labelledby="${id}-title">
<p class="kicker"><code>${id}</code> ${source}</p>
<h2 id="${id}-title">${title}</h2>
<p class="asks">${asks}</p>
<p class="finding">${result.finding}</p>
${result.plots.map(figure)}
${result.tables.map((table, t) => tableRegion(table, `${id}-table-${t + 1}`))}
<div class="repeat"><p class="small">To repeat it (${took(seconds)}${data.urls > 0 && html`, over ${whole.format(data.urls)} URLs`}):</p>
<pre><code>${command}</code></pre></div>
${download && html`<p class="small"><a href="${download}" download="${id}.csv">The first table as CSV</a></p>`}
</section>
`
}

function took(seconds: number): string {
  return seconds < 1 ? 'under a second' : `${Math.round(seconds)} s`
}

function figure(plot: Plot): Html {
  const swatches = legend(plot)
  const notes = [
    plot.series.some(({ printed }) => printed) && 'Hollow and dotted: from the paper, not measured here.',
    plot.series.some(({ points }) => points.some(({ low }) => low !== undefined)) &&
      'Bars and bands: the confidence interval.',
    hasFoot(plot) && 'A hollow triangle at the foot: none seen.',
  ].filter((note) => note !== false)
  return html`<figure>
<h3>${plot.title}</h3>
<div role="img" aria-label="${plot.alt}"><div class="wide">${new Html(draw(plot, WIDE))}</div><div class="narrow">${new Html(draw(plot, NARROW))}</div></div>
${
  swatches.length > 0 &&
  html`<ul class="legend">${swatches.map(({ name, swatch }) => html`<li>${new Html(swatch)}${name}</li>`)}</ul>`
}
${notes.length > 0 && html`<figcaption>${notes.join(' ')}</figcaption>`}
</figure>
`
}

function tableRegion(table: Table, id: string): Html {
  const right = table.columns.map((_, c) => isNumeric(table, c))
  // Names stay on one line; sentences are broken.
  const short = table.columns.map((_, c) => table.rows.every((row) => String(row[c]).length <= SHORT_LETTERS))
  const side = (c: number) =>
    new Html(right[c] ? ' class="number"' : short[c] ? ' class="name"' : ' class="words"')
  const rows = table.rows.map((row) => {
    const cells = row.map((cell, c) => {
      const text = withPowers(shown(cell, table.columns[c]!))
      return c === 0 ? html`<th scope="row"${side(c)}>${text}</th>` : html`<td${side(c)}>${text}</td>`
    })
    return html`<tr>${cells}</tr>
`
  })
  return html`<div class="scroll${table.rows.length > TALL_ROWS && ' tall'}" role="region" aria-labelledby="${id}" tabindex="0"><table>
<caption><b id="${id}">${table.title}</b>${table.note && html`<span>${table.note}</span>`}</caption>
<thead><tr>${table.columns.map(({ name }, c) => html`<th scope="col"${side(c)}>${name}</th>`)}</tr></thead>
<tbody>
${rows}</tbody>
</table></div>
`
}

function failed({ experiment, error }: Failure): Html {
  return html`<p class="failed"><strong>${experiment} did not finish:</strong> ${error instanceof Error ? error.message : String(error)}</p>
`
}
