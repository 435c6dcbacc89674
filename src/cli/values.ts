// Values of options: numbers and sizes as people write them, with one clear line when they cannot be read.
import { CommandError, EXIT } from './exit.ts'

const UNITS: Readonly<Record<string, number>> = { '': 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3, t: 1024 ** 4 }

function refuse(option: string, got: string, expected: string): never {
  throw new CommandError(EXIT.usage, `${option} '${got}': expected ${expected}`)
}

/** A count: 1000000, 1e6, 10M, 1_000_000. */
export function count(option: string): (text: string) => number {
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
export function rate(option: string): (text: string) => number {
  return (text) => {
    const value = /^[\d.]+(e-?\d+)?%?$/i.test(text)
      ? Number(text.replace('%', '')) / (text.endsWith('%') ? 100 : 1)
      : Number.NaN
    if (!(value > 0 && value < 1)) refuse(option, text, 'a rate between 0 and 1, such as 0.001, 1e-6 or 0.1%')
    return value
  }
}

/** A size in bytes: 64M, 1.5GiB, 500KB, 1048576. */
export function size(option: string): (text: string) => number {
  return (text) => {
    const match = /^([\d.]+)\s*([kmgt]?)(?:i?b)?$/i.exec(text)
    const value = match ? Math.floor(Number(match[1]) * UNITS[match[2]!.toLowerCase()]!) : Number.NaN
    if (!Number.isSafeInteger(value) || value < 64)
      refuse(option, text, 'a size of at least 64 bytes, such as 64M or 1.5G')
    return value
  }
}

/** A number from `least` on, fractions too. */
export function number(option: string, least: number): (text: string) => number {
  return (text) => {
    const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN
    if (!(value >= least)) refuse(option, text, `a number from ${least} on`)
    return value
  }
}

/** Made when first needed: it takes longer to make than the command to start. */
let format: Intl.NumberFormat | undefined

/** 1,234,567. */
export function grouped(value: number): string {
  format ??= new Intl.NumberFormat('en-US')
  return format.format(value)
}

/** 1.8 GiB. */
export function readableBytes(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB']
  let unit = 0
  while (bytes >= 1024 && unit < units.length - 1) {
    bytes /= 1024
    unit++
  }
  return `${bytes >= 100 || unit === 0 ? Math.round(bytes) : bytes.toFixed(1)} ${units[unit]}`
}

/** Names with commas between them; which names there are is the library's to say. */
export function list<T extends string>(text: string): T[] {
  return text.split(',').map((name) => name.trim() as T)
}

const SPANS_MS: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
}

/** A time in milliseconds: 30s, 5min, 1h. */
export function span(option: string): (text: string) => number {
  return (text) => {
    const ms = /^[\d.]+\s*[a-z]+$/.test(text) ? windowOf(option)(text).ms : undefined
    return ms ?? refuse(option, text, 'a time such as 30s, 5min or 1h')
  }
}

/** A window: so many URLs (1000000, 1e6) or a time (30d, 12h, 90min, 45s, 2w). */
export function windowOf(option: string): (text: string) => { urls?: number; ms?: number } {
  return (text) => {
    const span = /^([\d.]+)\s*(s|min|h|d|w)$/.exec(text)
    if (span) return { ms: Number(span[1]) * SPANS_MS[span[2]!.slice(0, 1)]! }
    return { urls: count(option)(text) }
  }
}
