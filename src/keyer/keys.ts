// From lines to keys, for one batch: the kernel writes the keys of the usual URLs; the unusual ones, and every
// line of a profile whose rules the kernel does not know, go through the profile's rules here.
import { keyOf, type Profile } from '../canonical/profiles.ts'
import { SieveError } from '../errors.ts'
import type { Kernel } from '../kernel.ts'
import { applyFastRules, fastRulesOf } from './fast-rules.ts'

/** A longer length would wrap around on its way into the kernel. */
const MOST_BYTES = 2 ** 32 - 1

/** Instead of rules for the kernel: lines are keys. */
const RAW = -1

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const encoder = new TextEncoder()

export class Keys {
  /** Lines of the batch that are not URLs, ascending: their keys are the lines themselves. */
  #invalidLines: number[] = []
  readonly #profile: Profile
  /** Rules for the kernel's `canonicalise`, or RAW; null: the kernel cannot apply the profile's rules. */
  #kernelRules: number | null = null
  #scratch = new Uint8Array(64 * 1024)

  constructor(kernel: Kernel, profile: Profile) {
    this.#profile = profile
    this.attach(kernel)
  }

  /** Makes keys in this instance from now on. */
  attach(kernel: Kernel): void {
    const fast = fastRulesOf(this.#profile)
    if (this.#profile.rules.length === 0) this.#kernelRules = RAW
    else if (fast) this.#kernelRules = applyFastRules(kernel, fast)
  }

  /** What the kernel needs to make usual keys without this class; -1: lines are keys. Null: it cannot. */
  get kernelRules(): number | null {
    return this.#kernelRules
  }

  /** How many of lines [from, n) of the batch are not URLs. */
  invalidIn(from: number, n: number): number {
    let count = 0
    for (const line of this.#invalidLines) if (line >= from && line < n) count++
    return count
  }

  /** The batch has no lines: its hashes come from elsewhere. */
  clear(): void {
    this.#invalidLines = []
  }

  /** Gives each of the batch's n lines its key. */
  make(kernel: Kernel, n: number): void {
    const { call } = kernel
    if (this.#invalidLines.length > 0) this.#invalidLines = []
    const rules = this.#kernelRules
    if (rules !== null && rules !== RAW) {
      const unusual = call.canonicalise(n, rules)
      kernel.refresh()
      if (unusual === 0) return
      if (unusual < 0)
        throw new SieveError('memory', 'no memory left for the keys of a batch: use a smaller filter')
      this.#careful(kernel, kernel.unusual.slice(0, unusual))
    } else {
      call.takeLinesAsKeys(n)
      if (rules === null)
        this.#careful(
          kernel,
          Uint32Array.from({ length: n }, (_, i) => i),
        )
    }
  }

  // The profile's rules, one line at a time. Keys gather in a scratch buffer and move to the kernel at the end.
  #careful(kernel: Kernel, lines: Uint32Array): void {
    const { lineStarts, lineEnds, bytes } = kernel
    const ends = new Uint32Array(lines.length)
    const invalid: number[] = []
    let used = 0
    for (let i = 0; i < lines.length; i++) {
      const line = lines[i]!
      const raw = bytes.subarray(lineStarts[line], lineEnds[line])
      const key = this.#keyOf(raw)
      const most = key === null ? raw.length : key.length * 3
      if (used + most > this.#scratch.length) this.#widen(used + most)
      if (key === null) {
        invalid.push(line)
        this.#scratch.set(raw, used)
        used += raw.length
      } else {
        used += encoder.encodeInto(key, this.#scratch.subarray(used)).written
      }
      ends[i] = used
    }
    const spill = used > MOST_BYTES ? 0 : kernel.call.reserveSpill(used) >>> 0
    kernel.refresh()
    if (spill === 0 && used > 0) {
      throw new SieveError('memory', `no memory left for ${used} bytes of keys: use a smaller filter`)
    }
    kernel.bytes.set(this.#scratch.subarray(0, used), spill)
    let from = 0
    for (let i = 0; i < lines.length; i++) {
      kernel.keyStarts[lines[i]!] = spill + from
      kernel.keyEnds[lines[i]!] = spill + ends[i]!
      from = ends[i]!
    }
    this.#invalidLines = invalid
  }

  #keyOf(raw: Uint8Array): string | null {
    let text: string
    try {
      text = decoder.decode(raw)
    } catch {
      return null // not UTF-8: not a URL, and replacing the invalid bytes could merge two lines
    }
    return keyOf(this.#profile, text)
  }

  #widen(bytes: number): void {
    const wider = new Uint8Array(Math.max(bytes, this.#scratch.length * 2))
    wider.set(this.#scratch)
    this.#scratch = wider
  }
}
