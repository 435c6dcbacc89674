// A chart of lines with intervals; of dots where there are no more than two places on the x axis. A bound is hollow: no
// error was found. A value of zero on a logarithmic axis is a hollow triangle at its foot.
import * as Plot from '@observablehq/plot'
import { describePoint } from '../cells.ts'
import type { Point, Series, Plot as Sketch } from '../experiment.ts'
import {
  decades,
  domain,
  frame,
  grid,
  labels,
  numbers,
  quiet,
  type Size,
  spread,
  ticksAcross,
  widest,
} from './axes.ts'
import { dotStyle, looks } from './looks.ts'

/** The end of an interval's bar. */
const CAP: Plot.SymbolType = {
  draw(context: CanvasPath, size: number) {
    const half = Math.sqrt(size / Math.PI)
    context.moveTo(-half, 0)
    context.lineTo(half, 0)
  },
}

/** Pixels between the dots of two series at one x. */
const DOT_STEP = 9
const FEW_PLACES = 2
const DOT_MARGIN = 0.4

/** A line between two points says nothing of what is between them. */
export function isDotPlot(series: readonly Series[]): boolean {
  const measured = series.filter(({ printed }) => !printed)
  return new Set(measured.flatMap(({ points }) => points.map(({ x }) => x))).size <= FEW_PLACES
}

export function lineChart({ x, y, series }: Sketch, size: Size): Plot.PlotOptions {
  const points = series.flatMap((one) => one.points).filter((point) => isDrawn(point, x.log))
  // Cuts off an interval that reaches almost to zero, which would compress everything else at the top.
  const least = y.log
    ? Math.min(...points.map((point) => point.y).filter((value) => value > 0)) / 10
    : -Infinity
  const range = domain(
    points.flatMap(({ y: value, low, high }) => [
      value,
      Math.max(low ?? value, Math.min(value, least)),
      high ?? value,
    ]),
    y.log,
  )
  const foot = range[0]!
  const isDots = isDotPlot(series)
  const across = spread(
    points.map((point) => point.x),
    x.log,
    isDots ? DOT_MARGIN : undefined,
  )
  const box = frame(x.label, y.label, size, widest(range, y.log))
  const all = looks(series)
  const raised = (value: number) => (y.log ? Math.max(value, foot) : value)
  const marks: Plot.Markish[] = [...grid(y.log ? decades(range) : undefined)]
  const bars: Plot.Markish[] = []
  const dots: Plot.Markish[] = []
  for (const [s, one] of series.entries()) {
    const look = all[s]!
    const drawn = one.points
      .filter((point) => isDrawn(point, x.log))
      .map((point) => ({
        ...point,
        at: raised(point.y),
        low: point.low === undefined ? undefined : raised(point.low),
        high: point.high === undefined ? undefined : raised(point.high),
        title: `${one.name}: ${describePoint(point)}`,
      }))
    const ranged = drawn.filter(({ low, high }) => low !== undefined && high !== undefined)
    const dx = isDots ? (s - (series.length - 1) / 2) * DOT_STEP : 0
    if (ranged.length > 1 && !isDots)
      marks.push(Plot.areaY(ranged, { x: 'x', y1: 'low', y2: 'high', fill: look.colour, fillOpacity: 0.13 }))
    if (!isDots)
      marks.push(
        Plot.line(drawn, {
          ...{ x: 'x', y: 'at', stroke: look.colour, strokeDasharray: look.dash },
          strokeWidth: look.hollow ? 1.2 : 2,
        }),
      )
    const bar = { stroke: look.colour, strokeWidth: 1.6, dx }
    bars.push(Plot.ruleX(ranged, { x: 'x', y1: 'low', y2: 'high', ...bar }))
    bars.push(Plot.dot(ends(ranged), { x: 'x', y: 'y', symbol: CAP, r: 4, ...bar }))
    if (drawn.length > 60) continue
    const isFoot = (point: { y: number }) => y.log === true && point.y <= 0
    const place = { x: 'x', y: 'at', title: 'title', dx }
    const isBound = (point: { readonly bound?: true }) => point.bound === true
    dots.push(
      Plot.dot(
        drawn.filter((point) => !isFoot(point) && !isBound(point)),
        { ...place, ...dotStyle(look) },
      ),
      Plot.dot(drawn.filter(isBound), { ...place, ...dotStyle(look), fill: 'var(--paper)' }),
    )
    dots.push(
      Plot.dot(drawn.filter(isFoot), {
        ...place,
        ...{
          symbol: 'triangle',
          rotate: 180,
          r: 5,
          stroke: look.colour,
          fill: 'var(--paper)',
          strokeWidth: 1.6,
        },
      }),
    )
  }
  const inner = size.width - box.marginLeft - box.marginRight
  return {
    ...box,
    height: size.height,
    x: { type: x.log ? 'log' : 'linear', domain: across, ...quiet },
    y: { type: y.log ? 'log' : 'linear', domain: range, ...quiet },
    marks: [
      ...marks,
      Plot.axisX({ ...numbers, ticks: ticksAcross(points, across, x.log, inner) }),
      Plot.ruleY([foot], { stroke: 'var(--axis)' }),
      ...bars,
      ...dots,
      ...labels(x.label, y.label, box, size),
    ],
  }
}

function isDrawn({ x, y }: Point, log?: boolean): boolean {
  return Number.isFinite(x) && Number.isFinite(y) && (!log || x > 0)
}

function ends(points: readonly { x: number; low?: number | undefined; high?: number | undefined }[]) {
  return points.flatMap(({ x, low, high }) => [
    { x, y: low },
    { x, y: high },
  ])
}
