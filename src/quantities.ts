// Sizes, rates, times and counts as people write them: parsed, with one line for text that cannot be read, and formatted.
// Each parser takes the name of its option as the caller spells it: `--urls`, `URLS`.
import { invalidOption } from './errors.ts'

/** A kind of quantity: what can be written for it, and how it is read. */
export interface Quantity<T = number> {
  /** What can be written, for messages: `a whole number such as …`. */
  readonly expected: string
  /** The value, or null for text that is not one. */
  read(text: string): T | null
}

const SIZE_UNITS: Readonly<Record<string, number>> = {
  '': 1,
  k: 1024,
  m: 1024 ** 2,
  g: 1024 ** 3,
  t: 1024 ** 4,
}

/** A count: 1000000, 1e6, 10M, 2B (10^9), 1_000_000. */
export const count: Quantity = {
  expected: 'a whole number such as 1000000, 1e6 or 10M',
  read(text) {
    const match = /^([\d_.]+(?:e\d+)?)([kmgb]?)$/i.exec(text)
    const scale = { '': 1, k: 1e3, m: 1e6, g: 1e9, b: 1e9 }[match?.[2]?.toLowerCase() ?? '']
    const value = match ? Number(match[1]!.replaceAll('_', '')) * scale! : Number.NaN
    return Number.isSafeInteger(value) && value >= 1 ? value : null
  },
}

/** A rate: 0.001, 1e-6, 0.1%. */
export const rate: Quantity = {
  expected: 'a rate between 0 and 1, such as 0.001, 1e-6 or 0.1%',
  read(text) {
    const value = /^[\d.]+(e-?\d+)?%?$/i.test(text)
      ? Number(text.replace('%', '')) / (text.endsWith('%') ? 100 : 1)
      : Number.NaN
    return value > 0 && value < 1 ? value : null
  },
}

/** A size in bytes: 64M, 1.5GiB, 500KB, 1048576. */
export const size: Quantity = {
  expected: 'a size of at least 64 bytes, such as 64M or 1.5G',
  read(text) {
    const match = /^([\d.]+)\s*([kmgt]?)(?:i?b)?$/i.exec(text)
    const value = match ? Math.floor(Number(match[1]) * SIZE_UNITS[match[2]!.toLowerCase()]!) : Number.NaN
    return Number.isSafeInteger(value) && value >= 64 ? value : null
  },
}

/** A number of at least `least`; fractions are allowed. */
export const number = (least: number): Quantity => ({
  expected: `a number of at least ${least}`,
  read(text) {
    const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN
    return value >= least ? value : null
  },
})

const UNIT_MS: Readonly<Record<string, number>> = {
  s: 1000,
  min: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
}

/** A duration in milliseconds: 30d, 12h, 90min, 45s, 2w. */
export const duration: Quantity = {
  expected: 'a time such as 30s, 5min or 1h',
  read(text) {
    const match = /^(\d+(?:\.\d+)?|\.\d+)\s*(s|min|h|d|w)$/.exec(text)
    return match ? Number(match[1]) * UNIT_MS[match[2]!]! : null
  },
}

/** Reads a quantity given for an option; throws one line that names the option and what is expected. */
export function parse<T>(quantity: Quantity<T>, option: string): (text: string) => T {
  return (text) => {
    const value = quantity.read(text)
    if (value === null) throw invalidOption(option, text, quantity.expected)
    return value
  }
}

export const parseCount = (option: string) => parse(count, option)
export const parseRate = (option: string) => parse(rate, option)
export const parseSize = (option: string) => parse(size, option)
export const parseDuration = (option: string) => parse(duration, option)
export const parseNumber = (option: string, least: number) => parse(number(least), option)

/** Names separated by commas; which names exist is for the library to check. */
export function parseList<T extends string>(text: string): T[] {
  return text.split(',').map((name) => name.trim() as T)
}

/** 1,234,567; at most three digits after the point. Without `Intl`, whose first use takes a tenth of the command's start. */
export function formatCount(value: number): string {
  return String(Math.round(value * 1000) / 1000).replace(/\B(?=(?:\d{3})+(?!\d))/g, ',')
}

/** 1 line, 1,234 lines. */
export function formatCounted(value: number, noun: string, nouns = `${noun}s`): string {
  return `${formatCount(value)} ${value === 1 ? noun : nouns}`
}

/** 5.7 M, 3.67 M, 12: three digits of what is large, for a line that is read at a glance. */
export function formatShort(value: number): string {
  if (value < 10_000) return formatCount(Math.round(value))
  const letters = ['k', 'M', 'G', 'T']
  const rounded = Number(value.toPrecision(3))
  const unit = Math.min(Math.floor(Math.log10(rounded) / 3), letters.length)
  return `${Number((rounded / 1000 ** unit).toPrecision(3))} ${letters[unit - 1]}`
}

/** 1e-6, 5.4e-11; 0 where there is no error. */
export function formatRate(rate: number): string {
  return rate === 0 ? '0' : rate.toExponential(1).replace('.0e', 'e')
}

/** 1.8 GiB. */
export function formatBytes(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB']
  let unit = 0
  // From 1023.95 on it would be rounded to 1024.0.
  while (bytes >= 1023.95 && unit < units.length - 1) {
    bytes /= 1024
    unit++
  }
  return `${bytes >= 100 || unit === 0 ? Math.round(bytes) : bytes.toFixed(1)} ${units[unit]}`
}
