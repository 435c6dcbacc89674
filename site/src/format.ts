// Formats numbers, sizes, rates and times for the whole page; sizes as the command does.
export { formatBytes as bytes } from '../../src/quantities.ts'

const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 })
const short = new Intl.NumberFormat('en', { maximumSignificantDigits: 3 })

const NONE = '–'
const DIGITS = '⁰¹²³⁴⁵⁶⁷⁸⁹'

/** 1,234,567 */
export const count = (n: number): string => whole.format(n)

/** 1.23 M: three significant digits and a unit. */
export function compact(n: number): string {
  for (const [size, unit] of [
    [1e12, 'T'],
    [1e9, 'G'],
    [1e6, 'M'],
    [1e4, 'k'],
  ] as const) {
    if (Math.abs(n) >= size * 0.9995) return `${short.format(unit === 'k' ? n / 1e3 : n / size)} ${unit}`
  }
  return short.format(n)
}

/** 61.2 % */
export function share(part: number | null): string {
  if (part === null || Number.isNaN(part)) return NONE
  const percent = part * 100
  return `${percent >= 9.995 || percent === 0 ? short.format(percent) : percent.toPrecision(2)} %`
}

export const power = (exponent: number): string =>
  `10${exponent < 0 ? '⁻' : ''}${[...String(Math.abs(exponent))].map((digit) => DIGITS[Number(digit)]).join('')}`

/** A probability: 0.012, or 1.2 × 10⁻⁶ for small ones. */
export function rate(p: number | null | undefined): string {
  if (p === null || p === undefined || Number.isNaN(p)) return NONE
  if (p === 0) return '0'
  if (p >= 0.001) return String(Number(p.toPrecision(2)))
  let exponent = Math.floor(Math.log10(p))
  let figure = (p / 10 ** exponent).toPrecision(2)
  if (figure === '10') {
    figure = '1.0'
    exponent++
  }
  return figure === '1.0' ? power(exponent) : `${figure} × ${power(exponent)}`
}

/** A probability as 1 in n. */
export const oneIn = (p: number): string => (p > 0 ? `1 in ${compact(1 / p)}` : 'none')

export const number = (n: number | null | undefined, digits = 3): string =>
  n === null || n === undefined ? NONE : String(Number(n.toPrecision(digits)))

export const plural = (n: number, one: string, many = `${one}s`): string =>
  `${count(n)} ${n === 1 ? one : many}`

/** 120 µs, 3.5 ms, 2 s. */
export function duration(seconds: number): string {
  if (seconds >= 0.9995) return `${short.format(seconds)} s`
  if (seconds >= 0.0009995) return `${short.format(seconds * 1e3)} ms`
  return `${short.format(seconds * 1e6)} µs`
}

/** 3 d 4 h, 4 h 5 min, 5 min, 12 s. */
export function uptime(seconds: number): string {
  const [days, hours, minutes] = [86_400, 3600, 60].map((unit) => Math.floor(seconds / unit)) as [
    number,
    number,
    number,
  ]
  if (days > 0) return `${count(days)} d ${hours % 24} h`
  if (hours > 0) return `${hours} h ${minutes % 60} min`
  return minutes > 0 ? `${minutes} min` : `${Math.floor(seconds)} s`
}

const date = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short' })
const minutes = new Intl.DateTimeFormat('en-GB', { timeStyle: 'short' })
const seconds = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' })

/** 15 Nov 2026, 12:05, in the local time zone. */
export const moment = (time: string | number): string => date.format(new Date(time))

/** 12:05 or 12:05:30, in the local time zone. */
export const clock = (time: number, hasSeconds: boolean): string =>
  (hasSeconds ? seconds : minutes).format(time)
