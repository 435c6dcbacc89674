// Axes: the range of the values, the ticks, and the space for labels.
import * as Plot from '@observablehq/plot'
import { tick } from '../cells.ts'
import type { Point } from '../experiment.ts'

export interface Size {
  readonly width: number
  readonly height: number
}

export const FONT_PX = 13
export const LETTER_PX = 6.7

/** The text of a tick. Given as `tickFormat`, Plot would omit some of them on a logarithmic axis. */
const label = (value: unknown) => tick(value as number)
export const quiet = { label: null, axis: null } as const
export const axis = { label: null, fill: 'var(--muted)', stroke: 'var(--axis)', tickSize: 5 } as const
/** An axis of numbers. */
export const numbers = { ...axis, text: label } as const

export interface Box {
  readonly marginLeft: number
  readonly marginRight: number
  readonly marginTop: number
  readonly marginBottom: number
}

/** The margins that the labels need, which wrap where necessary. */
export function frame(xLabel: string, yLabel: string, { width }: Size, tickLetters: number): Box {
  return {
    marginLeft: Math.max(34, tickLetters * LETTER_PX + 14),
    marginRight: 16,
    marginTop: 12 + 17 * linesOf(yLabel, width),
    marginBottom: 28 + 17 * linesOf(xLabel, width),
  }
}

export function linesOf(label: string, width: number): number {
  return Math.ceil((label.length * LETTER_PX) / (width - 24))
}

export function labels(xLabel: string, yLabel: string, box: Box, { width }: Size): Plot.Markish[] {
  const look = { fill: 'var(--ink)', fontWeight: 600, lineWidth: (width - 16) / FONT_PX }
  const { marginLeft, marginRight, marginTop, marginBottom } = box
  const right = { frameAnchor: 'bottom-right', textAnchor: 'end', lineAnchor: 'bottom' } as const
  const left = { frameAnchor: 'top-left', textAnchor: 'start', lineAnchor: 'top' } as const
  return [
    ...(xLabel
      ? [Plot.text([xLabel], { ...right, ...look, dx: marginRight - 4, dy: marginBottom - 5 })]
      : []),
    ...(yLabel ? [Plot.text([yLabel], { ...left, ...look, dx: 3 - marginLeft, dy: 4 - marginTop })] : []),
  ]
}

/** Grid lines at the ticks, and the ticks. */
export function grid(ticks: number[] | number = 6): Plot.Markish[] {
  return [
    Plot.gridY({ stroke: 'var(--grid)', strokeOpacity: 1, ticks }),
    Plot.axisY({ ...numbers, tickSize: 0, ticks }),
  ]
}

/** The range of the values with a margin; from zero, unless all values are close together and far from it. */
export function domain(values: readonly number[], log?: boolean): [number, number] {
  const finite = values.filter((value) => Number.isFinite(value) && (!log || value > 0))
  if (finite.length === 0) return log ? [0.1, 1] : [0, 1]
  const low = Math.min(...finite)
  const high = Math.max(...finite)
  if (log) {
    const hasZero = values.some((value) => value <= 0)
    const foot =
      hasZero || high / low > 100 ? 10 ** Math.floor(Math.log10(low) - (hasZero ? 0.3 : 0)) : low / 1.3
    return [foot, high * 1.3]
  }
  if (low > 0.6 * high && low > 0 && low < high) return [low - (high - low) * 0.15, high + (high - low) * 0.1]
  return [Math.min(0, low), high > 0 ? high * 1.06 : 1]
}

/** The range of the x axis, with this share of it as a margin on each side. */
export function spread(xs: readonly number[], log?: boolean, margin = 0.03): [number, number] {
  if (xs.length === 0) return [1, 10]
  const low = Math.min(...xs)
  const high = Math.max(...xs)
  if (log) {
    const air = high > low ? (high / low) ** margin : 2
    return [low / air, high * air]
  }
  const air = high > low ? (high - low) * margin : Math.abs(low) || 1
  return [low - air, high + air]
}

/** Powers of ten in a range; with 2 and 5 between them in a short range, and fewer in a long one. */
export function decades([low, high]: readonly [number, number]): number[] {
  const span = Math.log10(high / low)
  const steps = span < 2.2 ? [1, 2, 5] : [1]
  const every = Math.max(1, Math.ceil(span / 8))
  const found: number[] = []
  for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power++) {
    if (steps.length === 1 && power % every !== 0) continue
    for (const step of steps) {
      const value = Number(`${step}e${power}`)
      if (value >= low * 0.999 && value <= high * 1.001) found.push(value)
    }
  }
  return found
}

export function widest(range: [number, number], log?: boolean): number {
  const at = log ? decades(range) : [0, 1, 2, 3, 4].map((i) => Number(((range[1] * i) / 4).toPrecision(2)))
  return Math.max(...at.map((value) => tick(value).length), 3)
}

/** The x of the points where they are few and far apart, otherwise round numbers. */
export function ticksAcross(
  points: readonly Point[],
  [low, high]: [number, number],
  log: boolean | undefined,
  width: number,
): number[] | number {
  const place = (x: number) =>
    log ? (Math.log(x / low) / Math.log(high / low)) * width : ((x - low) / (high - low)) * width
  const xs = [...new Set(points.map(({ x }) => x))].sort((a, b) => a - b)
  const isClose = xs.some((x, i) => i > 0 && place(x) - place(xs[i - 1]!) < (tick(x).length + 2) * LETTER_PX)
  if (xs.length > 0 && !isClose) return xs
  if (!log) return Math.max(3, Math.floor(width / 80))
  const round = decades([low, high])
  const every = Math.ceil(round.length / (width / 52))
  return round.filter((_, i) => i % every === 0)
}
