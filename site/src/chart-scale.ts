// The vertical scale of a chart, and the path of a line through its samples.

/** From 0 to a round number over the highest (`zero`), a power of two over it (`bytes`), or 1 (`share`); `log`: powers of ten. */
export type ScaleKind = 'zero' | 'bytes' | 'share' | 'log'

export const HEIGHT = 60

type Values = readonly (number | null)[]

export interface Scale {
  /** Values with a horizontal line and a label. */
  readonly marks: readonly number[]
  y(value: number): number
}

/** 1, 2 or 5 times a power of ten, at least `value`. */
export function roundUp(value: number): number {
  if (value <= 0) return 1
  const unit = 10 ** Math.floor(Math.log10(value))
  return [1, 2, 5, 10].map((n) => n * unit).find((n) => n >= value * 0.9999) ?? value
}

const powerOfTwo = (value: number) => 2 ** Math.ceil(Math.log2(Math.max(value, 2)))

/** A scale on which these values lie; of a logarithmic one, `most` is an upper end that is not exceeded. */
export function scaleOf(kind: ScaleKind, shown: readonly number[], most = Number.POSITIVE_INFINITY): Scale {
  if (kind !== 'log') {
    const highest = Math.max(0, ...shown)
    const top = kind === 'share' ? 1 : kind === 'zero' ? roundUp(highest) : powerOfTwo(highest)
    return { marks: [top, top / 2], y: (value) => HEIGHT * (1 - value / top) }
  }
  const exponents = shown.filter((value) => value > 0).map(Math.log10)
  const highest = exponents.length > 0 ? Math.max(...exponents) : 0
  const from = Math.floor(Math.min(...exponents, highest) - 0.5)
  const to = Math.min(Math.log10(most), Math.max(from + 1, Math.ceil(highest + 0.5)))
  const lift = (value: number) => (Math.log10(Math.max(value, 10 ** from)) - from) / (to - from)
  return { marks: [10 ** to, 10 ** from], y: (value) => HEIGHT * (1 - lift(value)) }
}

/** The line through the values, with gaps where there are none, and the area below it. */
export function paths(
  xs: readonly number[],
  values: Values,
  y: (value: number) => number,
  gap: number,
): { line: string; area: string } {
  let line = ''
  let area = ''
  let from = -1
  for (let i = 0; i <= values.length; i++) {
    const value = values[i]
    const isApart = from >= 0 && i > 0 && i < xs.length && xs[i]! - xs[i - 1]! > gap
    if (from >= 0 && (value === null || value === undefined || isApart)) {
      area += `L${xs[i - 1]!.toFixed(2)} ${HEIGHT}L${xs[from]!.toFixed(2)} ${HEIGHT}Z`
      from = -1
    }
    if (value === null || value === undefined) continue
    const point = `${from < 0 ? 'M' : 'L'}${xs[i]!.toFixed(2)} ${y(value).toFixed(2)}`
    // A value without neighbours is drawn as a point: a line of no length with a round end.
    line += from < 0 ? `${point}h.01` : point
    area += point
    if (from < 0) from = i
  }
  return { line, area }
}

/** The index of the time nearest to `at`; -1 without any. Times increase. */
export function nearest(times: readonly number[], at: number): number {
  let low = 0
  let high = times.length - 1
  while (low < high) {
    const middle = (low + high) >> 1
    if (at - times[middle]! <= times[middle + 1]! - at) high = middle
    else low = middle + 1
  }
  return high
}
