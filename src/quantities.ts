// Sizes, rates, times and counts as people write them: parsed, with one line for text that cannot be read, and formatted.
// Each parser takes the name of its option as the caller spells it: `--urls`, `URLS`.
import { SieveError } from './errors.ts'

const UNITS: Readonly<Record<string, number>> = { '': 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3, t: 1024 ** 4 }

function refuse(option: string, got: string, expected: string): never {
  throw new SieveError('option', `${option} '${got}': expected ${expected}`)
}

/** A count: 1000000, 1e6, 10M, 1_000_000. */
export function parseCount(option: string): (text: string) => number {
  return (text) => {
    const match = /^([\d_.]+(?:e\d+)?)([kmg]?)$/i.exec(text)
    const scale = { '': 1, k: 1e3, m: 1e6, g: 1e9 }[match?.[2]?.toLowerCase() ?? '']
    const value = match ? Number(match[1]!.replaceAll('_', '')) * scale! : Number.NaN
    if (!Number.isSafeInteger(value) || value < 1)
      refuse(option, text, 'a whole number such as 1000000, 1e6 or 10M')
    return value
  }
}

/** A rate: 0.001, 1e-6, 0.1%. */
export function parseRate(option: string): (text: string) => number {
  return (text) => {
    const value = /^[\d.]+(e-?\d+)?%?$/i.test(text)
      ? Number(text.replace('%', '')) / (text.endsWith('%') ? 100 : 1)
      : Number.NaN
    if (!(value > 0 && value < 1)) refuse(option, text, 'a rate between 0 and 1, such as 0.001, 1e-6 or 0.1%')
    return value
  }
}

/** A size in bytes: 64M, 1.5GiB, 500KB, 1048576. */
export function parseSize(option: string): (text: string) => number {
  return (text) => {
    const match = /^([\d.]+)\s*([kmgt]?)(?:i?b)?$/i.exec(text)
    const value = match ? Math.floor(Number(match[1]) * UNITS[match[2]!.toLowerCase()]!) : Number.NaN
    if (!Number.isSafeInteger(value) || value < 64)
      refuse(option, text, 'a size of at least 64 bytes, such as 64M or 1.5G')
    return value
  }
}

/** A number of at least `least`; fractions are allowed. */
export function parseNumber(option: string, least: number): (text: string) => number {
  return (text) => {
    const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN
    if (!(value >= least)) refuse(option, text, `a number of at least ${least}`)
    return value
  }
}

const UNIT_MS: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
}

/** A duration in milliseconds: 30s, 5min, 1h. */
export function parseDuration(option: string): (text: string) => number {
  return (text) => {
    const ms = /^[\d.]+\s*[a-z]+$/.test(text) ? parseWindow(option)(text).ms : undefined
    return ms ?? refuse(option, text, 'a time such as 30s, 5min or 1h')
  }
}

/** A window: a number of URLs (1000000, 1e6) or a duration (30d, 12h, 90min, 45s, 2w). */
export function parseWindow(option: string): (text: string) => { urls?: number; ms?: number } {
  return (text) => {
    const duration = /^([\d.]+)\s*(s|min|h|d|w)$/.exec(text)
    if (duration) return { ms: Number(duration[1]) * UNIT_MS[duration[2]!.slice(0, 1)]! }
    return { urls: parseCount(option)(text) }
  }
}

/** Names separated by commas; which names exist is for the library to check. */
export function parseList<T extends string>(text: string): T[] {
  return text.split(',').map((name) => name.trim() as T)
}

/** Created when first needed: creating it takes longer than starting the command. */
let format: Intl.NumberFormat | undefined

/** 1,234,567. */
export function formatCount(value: number): string {
  format ??= new Intl.NumberFormat('en-US')
  return format.format(value)
}

/** 1.8 GiB. */
export function formatBytes(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB']
  let unit = 0
  while (bytes >= 1024 && unit < units.length - 1) {
    bytes /= 1024
    unit++
  }
  return `${bytes >= 100 || unit === 0 ? Math.round(bytes) : bytes.toFixed(1)} ${units[unit]}`
}
