// The lab's progress, on a terminal only: which experiment, how far, what it does, and the time left for it and for
// the whole lab.
import { writeSync } from 'node:fs'
import { isatty } from 'node:tty'
import { clock } from './progress.ts'

const STEP_MS = 100
const BAR_CELLS = 24

export class LabProgress {
  readonly #total: number
  readonly #on: boolean
  readonly #now: () => number
  #start: number
  #labStart: number
  #name = ''
  #number = 0
  #next = 0

  constructor(experiments: number, terminal = isatty(2), now: () => number = () => performance.now()) {
    this.#total = experiments
    this.#on = terminal
    this.#now = now
    this.#start = now()
    this.#labStart = this.#start
  }

  started(name: string, number: number): void {
    this.#name = name
    this.#number = number
    this.#start = this.#now()
    this.#next = 0
    this.progress(0, '')
  }

  progress(share: number, doing: string): void {
    if (!this.#on || this.#now() < this.#next) return
    this.#next = this.#now() + STEP_MS
    const width = process.stderr.columns || 80
    writeSync(2, `\r\x1b[K${this.text(share, doing).slice(0, width - 1)}`)
  }

  text(share: number, doing: string): string {
    const done = Math.min(1, Math.max(0, share))
    const cells = Math.round(done * BAR_CELLS)
    const parts = [
      `${String(this.#number + 1).padStart(2)}/${this.#total} ${this.#name}`,
      `${'█'.repeat(cells)}${'░'.repeat(BAR_CELLS - cells)} ${String(Math.floor(done * 100)).padStart(3)} %`,
    ]
    const elapsed = (this.#now() - this.#start) / 1000
    // A guess from almost nothing would jump about.
    if (done > 0.02 && elapsed > 0.5) {
      const left = (elapsed * (1 - done)) / done
      parts.push(`${clock(left)} left`)
      const others = this.#total - this.#number - 1
      const each = ((this.#now() - this.#labStart) / 1000 + left) / (this.#number + 1)
      if (others > 0) parts.push(`lab ${clock(left + others * each)}`)
    }
    if (doing) parts.push(doing)
    return parts.join('  ')
  }

  /** Takes the line away. */
  clear(): void {
    if (this.#on) writeSync(2, '\r\x1b[K')
  }
}
