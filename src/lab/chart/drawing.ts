// A plot as SVG text, drawn by Observable Plot in a document without a browser. Colours are the page's variables, so
// the same drawing works in light, dark and print.
import * as Plot from '@observablehq/plot'
import { parseHTML } from 'linkedom'
import type { Plot as Sketch } from '../experiment.ts'
import { FONT_PX, type Size } from './axes.ts'
import { barGroups, barList } from './bars.ts'
import { isDotPlot, lineChart } from './lines.ts'
import { dotStyle, fillStyle, looks } from './looks.ts'

const { document } = parseHTML('<!doctype html><html lang="en"><body></body></html>')

/** Bars of one value each are drawn horizontally with their names beside them, without a legend. */
function isList({ kind, series }: Sketch): boolean {
  return kind === 'bar' && series.every(({ points }) => points.length <= 1)
}

export function draw(sketch: Sketch, size: Size): string {
  const options =
    sketch.kind === 'line'
      ? lineChart(sketch, size)
      : isList(sketch)
        ? barList(sketch, size)
        : barGroups(sketch, size)
  return svg({ ...options, width: size.width })
}

/** A swatch for each series; none where the names are beside the bars. */
export function legend(sketch: Sketch): { name: string; swatch: string }[] {
  if (isList(sketch)) return []
  const all = looks(sketch.series)
  const isDots = isDotPlot(sketch.series)
  return sketch.series.map(({ name }, s) => {
    const look = all[s]!
    const ends = [
      { x: 0, y: 0 },
      { x: 2, y: 0 },
    ]
    const marks =
      sketch.kind === 'bar'
        ? [Plot.rect([0], { x1: 0.5, x2: 1.5, y1: -1, y2: 1, ...fillStyle(look) })]
        : [
            ...(isDots
              ? []
              : [
                  Plot.line(ends, {
                    x: 'x',
                    y: 'y',
                    stroke: look.colour,
                    strokeDasharray: look.dash,
                    strokeWidth: 2,
                  }),
                ]),
            Plot.dot([{ x: 1, y: 0 }], { x: 'x', y: 'y', ...dotStyle(look) }),
          ]
    const axes = { x: { domain: [0, 2], axis: null }, y: { domain: [-1, 1], axis: null } }
    return { name, swatch: svg({ width: 36, height: 14, margin: 1, ...axes, marks }) }
  })
}

/** Whether a count of zero is drawn at the foot of a logarithmic axis; the page then explains it. */
export function hasFoot({ kind, y, series }: Sketch): boolean {
  return (
    kind === 'line' && y.log === true && series.some(({ points }) => points.some((point) => point.y <= 0))
  )
}

function svg(options: Plot.PlotOptions): string {
  const node = Plot.plot({
    document: document as unknown as Document,
    className: 'chart',
    style: { fontSize: `${FONT_PX}px`, background: 'none' },
    ...options,
  })
  // Removes Plot's style sheet and labels: the page labels the drawing as a whole.
  return node.outerHTML
    .replace(/<style>[\s\S]*?<\/style>/, '')
    .replace(/ (?:aria-label|aria-description|class|font-family|font-size)="[^"]*"/g, '')
    .replace(/ style="[^"]*"/, '')
    .replace(/<[^>]+>/g, (tag) => tag.replace(/(\d\.\d\d)\d+/g, '$1'))
    .replace(/<svg /, '<svg aria-hidden="true" focusable="false" ')
}
