// Numbers in the sentences of a finding.
import type { Interval } from './interval.ts'

/** 3,500,000. */
export function count(value: number): string {
  return Math.round(value).toLocaleString('en-US')
}

/** A share as a percentage with two significant digits or more: 0.043 %, 1.2 %, 100 %. */
export function percent(share: number): string {
  const value = share * 100
  if (value === 0 || Number.isInteger(value)) return `${value} %`
  const size = Math.abs(value)
  if (size < 1e-4) return `${value.toExponential(1)} %`
  return `${value.toFixed(size >= 99 && size < 100 ? 2 : size >= 10 ? 1 : Math.max(1, 1 - Math.floor(Math.log10(size))))} %`
}

/** A factor: 1.27, 43, 10,300. */
export function factor(value: number): string {
  return value >= 100 ? count(value) : value >= 10 ? value.toFixed(0) : value.toFixed(2)
}

/** a, b and c. */
export function listed(parts: readonly string[]): string {
  return parts.length < 2 ? (parts[0] ?? '') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`
}

/** 0.021 % (0.019 % … 0.023 %). */
export function withInterval(rate: number, { lower, upper }: Interval): string {
  return `${percent(rate)} (${percent(lower)} … ${percent(upper)})`
}
