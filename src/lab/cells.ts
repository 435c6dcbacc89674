// Cells of a table and ticks of an axis, as people read them.
import { formatBytes } from '../quantities.ts'
import type { Cell, Column, Point, Table } from './experiment.ts'

const whole = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 })

/** `-` for nothing, 1,234,567 for a count, 3.26 % or 1.23e-5 for a rate, three digits for the rest. */
export function shown(cell: Cell, { as }: Column): string {
  if (cell === null) return '-'
  if (typeof cell === 'string') return cell
  if (!Number.isFinite(cell)) return Number.isNaN(cell) ? '-' : String(cell).replace('Infinity', '∞')
  switch (as) {
    case 'text':
      return String(cell)
    case 'count':
      return Number.isInteger(cell) || Math.abs(cell) >= 100 ? whole.format(cell) : digits(cell)
    case 'rate':
      return Math.abs(cell) >= 1e-3 ? `${digits(cell * 100)} %` : digits(cell)
    case 'bytes':
      return formatBytes(cell)
    default:
      return digits(cell)
  }
}

/** Three digits that count: 0, 1.23e-5, 0.0123, 1.23, 12.3, 123, 12,345. */
export function digits(value: number): string {
  const size = Math.abs(value)
  if (size === 0) return '0'
  if (size < 1e-3) return value.toExponential(2)
  if (size >= 999.5) return size < 1e15 ? whole.format(value) : value.toExponential(2)
  return value.toPrecision(3)
}

/** Whether a column holds numbers: set to the right. */
export function isNumeric({ columns, rows }: Table, c: number): boolean {
  if (columns[c]!.as === 'text') return false
  return rows.some((row) => typeof row[c] === 'number') && rows.every((row) => typeof row[c] !== 'string')
}

const RAISED: Readonly<Record<string, string>> = {
  '-': '⁻',
  ...Object.fromEntries([...'⁰¹²³⁴⁵⁶⁷⁸⁹'].map((raised, digit) => [String(digit), raised])),
}

/** 1.23e-5 as 1.23 × 10⁻⁵, wherever it stands alone. */
export function withPowers(text: string): string {
  return text.replace(/^(-?[\d.]+)e([-+]?\d+)$/, (_, mantissa, exponent) => {
    const power = `10${[...String(Number(exponent))].map((sign) => RAISED[sign]).join('')}`
    return Number(mantissa) === 1 ? power : `${mantissa.replace(/\.?0+$/, '')} × ${power}`
  })
}

/** A number at an axis: 0.5, 20 k, 3.5 M, 10⁻⁶. */
export function tick(value: number): string {
  const size = Math.abs(value)
  if (size === 0) return '0'
  if (size < 1e-3 || size >= 1e12) return withPowers(value.toExponential(2))
  const [scale, unit] =
    size >= 1e9 ? [1e9, ' G'] : size >= 1e6 ? [1e6, ' M'] : size >= 1e4 ? [1e3, ' k'] : [1, '']
  return `${Number((value / scale).toPrecision(3))}${unit}`
}

/** A point with its interval, for the text shown when the pointer is over it. */
export function describePoint({ x, y, bound, low, high }: Point): string {
  if (bound) return `none found, at most ${tick(y)}, at ${tick(x)}`
  const interval = low !== undefined && high !== undefined ? ` (${tick(low)} … ${tick(high)})` : ''
  return `${tick(y)}${interval} at ${tick(x)}`
}
