// The report's page: its style sheet and its frame, in one file without scripts or network access. Colours: the palette
// of Okabe and Ito, which colour-blind readers can distinguish, darkened for a light and lightened for a dark background:
// the contrast is at least 4.5 for text and 3 for lines.

/** A text that is HTML already; `html` escapes all others. */
export class Html {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
  toString(): string {
    return this.text
  }
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

export function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => ESCAPES[sign]!)
}

type Part = string | number | Html | readonly Html[] | null | undefined | false

export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  let text = strings[0]!
  for (const [i, part] of parts.entries()) {
    if (part instanceof Html) text += part.text
    else if (Array.isArray(part)) text += part.join('')
    else if (part !== null && part !== undefined && part !== false) text += escaped(String(part))
    text += strings[i + 1]
  }
  return new Html(text)
}

export function page(title: string, description: string, body: Html): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="description" content="${description}">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>${title}</title>
<style>${new Html(STYLE)}</style>
</head>
<body>
${body}
</body>
</html>
`.text
}

const STYLE = `
:root {
  color-scheme: light dark;
  --paper: #fdfcfa; --card: #ffffff; --ink: #1b1f24; --muted: #565d66; --line: #dedad2; --grid: #e9e6e0;
  --axis: #8b9099; --link: #0a5a94; --tint: #eef5fa; --code: #f3f1ec; --accent: #0072b2;
  --series-1: #0072b2; --series-2: #c2470a; --series-3: #00795c; --series-4: #a23b86;
  --series-5: #8a6700; --series-6: #4b4f57; --series-7: #3f8fd0; --series-8: #7a3b1c;
}
@media screen and (prefers-color-scheme: dark) {
  :root {
    --paper: #111417; --card: #191d21; --ink: #eceae6; --muted: #a9afb7; --line: #343a41; --grid: #2a2f35;
    --axis: #767d86; --link: #86c5f4; --tint: #16242f; --code: #20252a; --accent: #56b4e9;
    --series-1: #56b4e9; --series-2: #ff8f52; --series-3: #2fc7a1; --series-4: #e79acd;
    --series-5: #f0c63f; --series-6: #c9ced4; --series-7: #94a9ff; --series-8: #d0a081;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; scroll-padding-top: 4rem; }
@media (prefers-reduced-motion: no-preference) { html { scroll-behavior: smooth; } }
body { margin: 0; background: var(--paper); color: var(--ink); overflow-wrap: break-word;
  font: 1.0625rem/1.6 system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif; }
a { color: var(--link); text-underline-offset: .15em; }
a:focus-visible, [tabindex]:focus-visible, summary:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; border-radius: 4px; }
.skip { position: absolute; left: 1rem; top: -4rem; background: var(--card); padding: .5rem 1rem; z-index: 1; }
.skip:focus { top: .5rem; }
header, main, footer { max-width: 58rem; margin: 0 auto; padding: 0 clamp(1rem, 4vw, 2rem); }
h1, h2, h3 { line-height: 1.2; text-wrap: balance; letter-spacing: -.015em; }
h1 { font-size: clamp(2rem, 6vw, 3rem); margin: 0 0 .5rem; letter-spacing: -.03em; }
h2 { font-size: clamp(1.5rem, 4vw, 2rem); margin: 0 0 .5rem; }
h3 { font-size: 1.0625rem; margin: 0 0 .75rem; text-wrap: pretty; }
p { margin: 0 0 1rem; max-width: 44rem; }
code, pre { font-family: ui-monospace, 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace; font-size: .875em; }
header { padding-top: clamp(2rem, 7vw, 4.5rem); }
.brand { font-weight: 600; color: var(--muted); margin: 0 0 1.25rem; }
.lead { font-size: 1.1875rem; color: var(--muted); }
.bits { display: block; width: 100%; height: auto; margin: 1.75rem 0 .5rem; fill: var(--accent); }
.bits .off { fill: var(--grid); }
.small { font-size: .875rem; color: var(--muted); }
.facts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 9.5rem), 1fr)); gap: 1rem 1.75rem; margin: 1.5rem 0 2rem; }
.facts dt { font-size: .8125rem; color: var(--muted); }
.facts dd { margin: 0; overflow-wrap: anywhere; font-size: .9375rem; }
.contents { position: sticky; top: 0; z-index: 1; background: var(--paper); border-top: 1px solid var(--line); border-bottom: 1px solid var(--line); }
.contents ul { list-style: none; margin: 0 auto; max-width: 58rem; padding: .5rem clamp(1rem, 4vw, 2rem); display: flex; flex-wrap: wrap; gap: .25rem 1.25rem;
  white-space: nowrap; font-size: .875rem; }
.claims { padding: 2.5rem 0 0; }
.verdict { border-left: 4px solid var(--ink); padding: .5rem 1.25rem; margin: 1.25rem 0 0; max-width: none; font-size: 1.1875rem; }
.verdict strong { display: inline-block; }
.verdict strong::first-letter { text-transform: uppercase; }
.claims tbody .words, .claims tbody .name { min-width: 7rem; white-space: normal; }
.claims td:nth-child(3) { font-weight: 600; }
.run { padding-top: 2.5rem; }
.fold > summary { cursor: pointer; font-weight: 600; padding: .5rem .25rem; }
.fold > .small { margin: 0 0 2rem; }
.experiment { padding: clamp(3rem, 8vw, 5rem) 0 0; }
.kicker { font-size: .875rem; color: var(--muted); margin: 0 0 .5rem; }
.kicker code { color: var(--ink); background: var(--code); border-radius: 4px; padding: .1em .4em; }
.question { font-size: 1.125rem; color: var(--muted); }
.finding { border-left: 4px solid var(--accent); background: var(--tint); border-radius: 0 8px 8px 0;
  padding: 1rem 1.25rem; margin: 1.25rem 0 2rem; max-width: none; font-size: 1.125rem; }
figure { margin: 0 0 2rem; padding: 1.25rem clamp(.5rem, 2.5vw, 1.5rem) 1rem; background: var(--card);
  border: 1px solid var(--line); border-radius: 12px; --paper: var(--card); break-inside: avoid; }
figure h3 { padding: 0 .25rem; }
figure svg { display: block; width: 100%; height: auto; overflow: visible; font-size: 13px; font-family: inherit; }
figure svg text { white-space: pre; font-variant-numeric: tabular-nums; }
.narrow { display: none; }
figcaption { font-size: .8125rem; line-height: 1.5; color: var(--muted); padding: .25rem; }
.legend { list-style: none; display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; margin: .5rem 0 0; padding: 0 .25rem; font-size: .875rem; }
.legend li { display: flex; align-items: center; gap: .5rem; }
figure .legend svg { width: 36px; flex: none; }
.scroll { overflow: auto; margin: 0 0 .5rem; border: 1px solid var(--line); border-radius: 12px;
  background: linear-gradient(to right, var(--card) 30%, transparent) left / 3rem 100% no-repeat local,
    linear-gradient(to left, var(--card) 30%, transparent) right / 3rem 100% no-repeat local,
    linear-gradient(to right, var(--axis), transparent) left / .75rem 100% no-repeat scroll,
    linear-gradient(to left, var(--axis), transparent) right / .75rem 100% no-repeat scroll, var(--card); }
.scroll.tall { max-height: 34rem; }
table { border-collapse: separate; border-spacing: 0; width: 100%; font-size: .875rem; line-height: 1.4; font-variant-numeric: tabular-nums; }
caption { text-align: left; padding: .5rem 1rem; font-weight: 600; font-size: 1.0625rem; }
caption span { display: block; font-weight: 400; font-size: .875rem; color: var(--muted); max-width: 44rem; margin-top: .25rem; position: sticky; left: 1rem; }
caption b { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
th, td { padding: .4rem .875rem; text-align: left; vertical-align: top; border-top: 1px solid var(--grid); }
thead th { position: sticky; top: 0; background: var(--card); color: var(--muted); font-weight: 600; vertical-align: bottom;
  border-top: 0; border-bottom: 2px solid var(--line); }
tbody th { font-weight: 500; }
tbody tr:hover > * { background: var(--tint); }
.number { text-align: right; }
.number, tbody .name { white-space: nowrap; }
thead .number { white-space: normal; min-width: 5.5rem; }
tbody .words { min-width: 13rem; max-width: 24rem; }
.repeat { margin: 0 0 1rem; }
.repeat p { margin: 0 0 .5rem; }
pre { margin: 0; padding: .75rem 1rem; background: var(--code); border-radius: 8px; white-space: pre-wrap; overflow-wrap: anywhere; }
.failed { border: 2px solid var(--series-2); border-radius: 12px; padding: 1rem 1.25rem; margin: 2rem 0; }
footer { padding-top: 4rem; padding-bottom: 3rem; }
@media screen and (max-width: 40rem) {
  .contents ul { flex-wrap: nowrap; overflow-x: auto; }
  .wide { display: none; }
  .narrow { display: block; }
  .experiment { border-top: 1px solid var(--line); margin-top: 3rem; padding-top: 2.5rem; }
  .finding { padding: .875rem 1rem; font-size: 1.0625rem; }
}
@media print {
  body { font-size: 10pt; background: #fff; }
  .skip, .contents { display: none; }
  header, main, footer { max-width: none; padding-left: 0; padding-right: 0; }
  .scroll, .scroll.tall { overflow: visible; max-height: none; border-color: #bbb; }
  thead th { position: static; }
  table { font-size: 8pt; }
  th, td { padding: .2rem .4rem; }
  tr, .finding { break-inside: avoid; }
  h2, h3, caption { break-after: avoid; }
  .experiment { break-before: page; padding-top: 0; }
  .finding { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
`
