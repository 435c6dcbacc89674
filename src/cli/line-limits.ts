// Lines of a run through limits by shape: those that are dropped are counted, and listed by `--dropped` with their reason.
import { keyOf, type Profile } from '../canonical/profiles.ts'
import { type ShapeLimitOptions, ShapeLimits } from '../shapes/shape-limits.ts'
import type { Output } from './output.ts'

const NEWLINE = 10
const decoder = new TextDecoder()

/** Lines through limits: those that are kept go on, the others are counted and listed. */
export class LineLimits {
  readonly #limits: ShapeLimits
  readonly #dropped: Output | null
  readonly #profile: Profile
  /** What is to be listed. */
  #list = ''

  /** `profile`: whose keys are judged where the sieve has none of its own. */
  constructor(options: ShapeLimitOptions, profile: Profile, dropped?: Output) {
    this.#profile = profile
    this.#limits = new ShapeLimits(options)
    this.#dropped = dropped ?? null
  }

  /** The lines that are kept, of whole lines, judged by the keys of a profile. */
  keep(lines: Uint8Array, profile = this.#profile): Uint8Array {
    let size = 0
    const kept = new Uint8Array(lines.length)
    for (let at = 0; at < lines.length; ) {
      const newline = lines.indexOf(NEWLINE, at)
      const end = newline < 0 ? lines.length : newline
      const line = lines.subarray(at, end)
      const drop = this.#limits.admit(keyOf(profile, decoder.decode(line)) ?? line)
      at = Math.min(end + 1, lines.length)
      if (drop === null) {
        kept.set(lines.subarray(at - line.length - Number(newline >= 0), at), size)
        size += line.length + Number(newline >= 0)
      } else if (this.#dropped) this.#list += `${drop.limit}\t${drop.reason}\t${decoder.decode(line)}\n`
    }
    return kept.subarray(0, size)
  }

  /** Lists what was dropped; `isPatient`: the caller waits for the promise, where there is one. */
  list(isPatient: boolean): Promise<void> | undefined {
    const list = Buffer.from(this.#list)
    this.#list = ''
    return isPatient ? this.#dropped?.deliver(list) : this.#dropped?.write(list)
  }

  /** What it writes. */
  get files(): readonly Output[] {
    return this.#dropped ? [this.#dropped] : []
  }

  stats() {
    return this.#limits.stats().dropped
  }

  close(): void {
    this.#dropped?.close()
  }
}
