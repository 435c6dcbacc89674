// Charts of bars: groups of vertical bars, or a list of horizontal ones.
import * as Plot from '@observablehq/plot'
import { describePoint, tick } from '../cells.ts'
import type { Plot as Sketch } from '../experiment.ts'
import {
  axis,
  decades,
  domain,
  FONT_PX,
  frame,
  grid,
  LETTER_PX,
  labels,
  linesOf,
  numbers,
  quiet,
  type Size,
  widest,
} from './axes.ts'
import { fillStyle, looks } from './looks.ts'

/** Groups of vertical bars, one group for each x. */
export function barGroups({ x, y, series }: Sketch, size: Size): Plot.PlotOptions {
  const all = looks(series)
  const points = series.flatMap((one) => one.points)
  const range = domain(
    [...points.flatMap(({ y: value, high }) => [value, high ?? value]), ...(y.log ? [] : [0])],
    y.log,
  )
  const foot = y.log ? range[0]! : 0
  const box = frame(x.label, y.label, size, widest(range, y.log))
  const xs = [...new Set(points.map((point) => point.x))].sort((a, b) => a - b)
  const rows = series.flatMap((one, s) =>
    one.points.map((point) => ({
      ...{
        fx: point.x,
        x: s,
        y: Math.max(foot, point.y),
        foot,
        title: `${one.name}: ${describePoint(point)}`,
      },
      ...{ look: all[s]!, low: Math.max(foot, point.low ?? point.y), high: point.high, at: point.x },
    })),
  )
  const ranged = rows.filter(({ high }) => high !== undefined)
  return {
    ...box,
    height: size.height,
    fx: { domain: xs, label: null, padding: 0.2, axis: null },
    x: { domain: series.map((_, s) => s), axis: null, padding: 0.08 },
    y: { type: y.log ? 'log' : 'linear', domain: range, ...quiet },
    marks: [
      ...grid(y.log ? decades(range) : undefined),
      ...series.map((_, s) =>
        Plot.barY(
          rows.filter((row) => row.x === s),
          { fx: 'fx', x: 'x', y1: 'foot', y2: 'y', title: 'title', ...fillStyle(all[s]!) },
        ),
      ),
      Plot.ruleX(ranged, { fx: 'fx', x: 'x', y1: 'low', y2: 'high', stroke: 'var(--ink)', strokeWidth: 1.4 }),
      Plot.ruleY([foot], { stroke: 'var(--axis)' }),
      Plot.axisFx({ ...numbers, anchor: 'bottom' }),
      ...labels(x.label, y.label, box, size),
    ],
  }
}

/** Horizontal bars, one for each series, with their names and values. */
export function barList({ y, series }: Sketch, size: Size): Plot.PlotOptions {
  const shownSeries = series.filter(({ points }) => points.length > 0)
  const all = looks(shownSeries.map((one) => (one.printed ? one : { ...one, printed: false })))
  const points = shownSeries.map(({ points: [point] }) => point!)
  const values = points.flatMap(({ y: value, high }) => [value, high ?? value])
  const range = domain([...values, ...(y.log ? [] : [0])], y.log)
  const foot = y.log ? range[0]! : Math.min(0, range[0]!)
  const longest = Math.max(...shownSeries.map(({ name }) => name.length))
  const marginLeft = Math.min(size.width * 0.42, longest * LETTER_PX + 12)
  const rows = shownSeries.map(({ name, printed }, s) => {
    const { y: value, low, high } = points[s]!
    return {
      ...{ name, foot, value: Math.max(foot, value), label: tick(Number(value.toPrecision(3))) },
      ...{ low: Math.max(foot, low ?? value), high, far: Math.max(foot, value, high ?? value) },
      ...{ printed: printed ?? false, title: `${name}: ${describePoint(points[s]!)}` },
    }
  })
  const look = { ...all[0]!, colour: 'var(--series-1)', hollow: false }
  const box = {
    marginLeft,
    marginRight: 62,
    marginTop: 8,
    marginBottom: 26 + 16 * linesOf(y.label, size.width),
  }
  const place = { y: 'name', x1: 'foot', x2: 'value', title: 'title' }
  const ticks = y.log ? decades(range) : size.width / 110
  return {
    ...box,
    height: box.marginTop + box.marginBottom + 30 * rows.length,
    x: { type: y.log ? 'log' : 'linear', domain: range, ...quiet },
    y: { domain: rows.map(({ name }) => name), label: null, padding: 0.28 },
    marks: [
      Plot.gridX({ stroke: 'var(--grid)', strokeOpacity: 1, ticks }),
      Plot.barX(
        rows.filter(({ printed }) => !printed),
        { ...place, ...fillStyle(look) },
      ),
      Plot.barX(
        rows.filter(({ printed }) => printed),
        { ...place, ...fillStyle({ ...look, hollow: true }) },
      ),
      Plot.ruleY(
        rows.filter(({ high }) => high !== undefined),
        { y: 'name', x1: 'low', x2: 'high', stroke: 'var(--ink)', strokeWidth: 1.6 },
      ),
      Plot.text(rows, { y: 'name', x: 'far', text: 'label', textAnchor: 'start', dx: 6, fill: 'var(--ink)' }),
      Plot.axisY({
        ...axis,
        tickSize: 0,
        lineWidth: marginLeft / FONT_PX - 1,
        textOverflow: 'ellipsis',
      }),
      Plot.axisX({ ...numbers, ticks }),
      Plot.ruleX([foot], { stroke: 'var(--axis)' }),
      ...labels(y.label, '', box, size),
    ],
  }
}
