// Progress of a long run, on a terminal only: lines, rate, share of new ones, and the time left when the size of
// the input is known. The first line appears after two seconds; one line at the end sums the run up.
import { isatty } from 'node:tty'
import { formatCounted, formatShort } from '../quantities.ts'
import { writeStderr } from './output.ts'

const FIRST_MS = 2000
const STEP_MS = 250

export interface Reading {
  readonly lines: number
  /** New lines; absent where nothing is compared. */
  readonly fresh?: number
  /** Bytes of the input read so far, of `totalBytes`. */
  readonly bytes: number
}

/** 1:05 or 2:03:04. */
export function clock(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds))
  const parts = [Math.floor(whole / 60) % 60, whole % 60]
  const hours = Math.floor(whole / 3600)
  const padded = parts.map((part) => String(part).padStart(2, '0')).join(':')
  return hours ? `${hours}:${padded}` : padded.replace(/^0/, '')
}

export class Progress {
  readonly #on: boolean
  readonly #total: number | null
  readonly #start = performance.now()
  #next = FIRST_MS
  #shown = false

  /** `quiet` turns it off; so does a stderr that is no terminal. */
  constructor(totalBytes: number | null, quiet = false, terminal = isatty(2)) {
    this.#total = totalBytes
    this.#on = terminal && !quiet
  }

  tick(read: () => Reading): void {
    if (!this.#on) return
    const elapsed = performance.now() - this.#start
    if (elapsed < this.#next) return
    this.#next = elapsed + STEP_MS
    this.#shown = true
    writeStderr(`\r\x1b[K${this.text(read(), elapsed / 1000)}`)
  }

  text({ lines, fresh, bytes }: Reading, seconds: number): string {
    const rate = bytes / seconds
    const parts = [
      formatCounted(lines, 'line'),
      `${(lines / seconds / 1e6).toFixed(2)} M/s`,
      `${(rate / 1e6).toFixed(0)} MB/s`,
    ]
    if (fresh !== undefined) parts.push(`${lines ? ((fresh / lines) * 100).toFixed(1) : '0.0'} % new`)
    // A file may report a smaller size than it has: one that still grows, or one of /proc.
    if (this.#total !== null && rate > 0 && bytes <= this.#total) {
      parts.push(
        `${Math.floor((bytes / this.#total) * 100)} %`,
        `${clock((this.#total - bytes) / rate)} left`,
      )
    }
    return parts.join(' · ')
  }

  /** Ends with one line for what was done. */
  finish(parts: readonly string[], lines: number): void {
    this.done()
    if (!this.#on) return
    const seconds = (performance.now() - this.#start) / 1000
    writeStderr(
      `${[...parts, `${seconds.toFixed(1)} s`, `${formatShort(lines / seconds)} lines/s`].join(' · ')}\n`,
    )
  }

  /** Takes the line away. */
  done(): void {
    if (this.#shown) writeStderr('\r\x1b[K')
  }
}
