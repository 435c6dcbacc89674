// The run of `urlsieve dedupe`, whatever remembers: inputs through a sieve, kept lines to the output, one summary.
import type { Profile } from '../canonical/profiles.ts'
import { formatShort } from '../quantities.ts'
import { Delivery, type Forget } from './delivery.ts'
import type { LineLimits } from './line-limits.ts'
import { Output, warnOfNoUrls, writeStats } from './output.ts'
import { Progress } from './progress.ts'

export interface DedupeRequest {
  readonly paths: readonly string[]
  /** Of all inputs; null when one of them has no size. */
  readonly totalBytes: number | null
  readonly keep: 'new' | 'seen'
  readonly output?: string
  /** What the kept lines go through. */
  readonly limits?: LineLimits
  readonly stats: boolean
  readonly quiet: boolean
  /** When the run began, by `performance.now()`. */
  readonly startedAt: number
}

export interface Counts {
  readonly lines: number
  readonly new: number
  readonly seen: number
  /** Read so far: of the input when unpacked. */
  readonly bytes: number
}

/**
 * Takes kept lines, and the position in the file on disk where that is known. `isLater`: they are written while the caller goes on, who
 * waits for the promise, where there is one, before the next call; a last such call without lines waits until all are written.
 */
export type WriteKept = (kept: Uint8Array, position?: number, isLater?: boolean) => Promise<void> | undefined

/** What one input is sifted through. */
export interface DedupeTarget {
  /** Sifts one input to its end. */
  sift(
    path: string,
    write: WriteKept,
    /** Where threads write themselves. */
    output: Output,
  ): Promise<void>
  /** After the last input: `write` gets the kept lines that were still waiting. */
  finish?(write: WriteKept): Promise<void>
  counts(): Counts
  /** It remembers after the run: what does not reach the output must be forgotten again. */
  readonly outlivesRun: boolean
  /** Absent: it cannot forget. */
  readonly forget?: Forget | undefined
  /** Of a sieve that may have been stored with another one than the flags describe. */
  readonly profile?: Profile
  /** Closes the sieve and returns what else the summary reports. */
  end(): Promise<{ readonly invalid: number; readonly sizeBytes: number | null }>
  /** Warnings after the summary's own. */
  warn?(): void
}

export async function runDedupe(target: DedupeTarget, request: DedupeRequest): Promise<void> {
  const output = await openOutput(request.output, target)
  const delivery = new Delivery(output)
  const progress = new Progress(request.totalBytes, request.quiet)
  /** Bytes of the inputs before this one, and of this one. */
  let before = 0
  let position = 0
  const write = (kept: Uint8Array, at?: number, isLater = false) => {
    const lines = request.limits ? request.limits.keep(kept, target.profile) : kept
    let wait: Promise<void> | undefined
    if (isLater) wait = output.writeBehind(lines)
    else delivery.write(lines)
    position = at ?? target.counts().bytes - before
    progress.tick(() => {
      const { lines, new: fresh } = target.counts()
      return { lines, fresh, bytes: before + position }
    })
    return wait
  }
  let hasEnded = false
  try {
    for (const path of request.paths) {
      await target.sift(path, write, output)
      before += position
      position = 0
    }
    await target.finish?.((kept, _, isLater) => write(kept, 0, isLater))
    hasEnded = true
  } finally {
    progress.done()
    if (target.outlivesRun && request.keep === 'new') await delivery.takeBack(target.forget)
    await output.settle()
    output.close()
    request.limits?.close()
    const { invalid, sizeBytes, ...others } = await target.end()
    const { lines, bytes, ...verdicts } = target.counts()
    if (hasEnded) progress.finish(summary(lines, verdicts, invalid), lines)
    warnOfNoUrls(lines, invalid)
    target.warn?.()
    if (request.stats) {
      const seconds = (performance.now() - request.startedAt) / 1000
      const dropped = request.limits && { dropped: request.limits.stats() }
      const urlsPerSecond = Math.round(lines / seconds)
      writeStats({
        lines,
        ...verdicts,
        invalid,
        bytes,
        seconds,
        urlsPerSecond,
        sizeBytes,
        ...others,
        ...dropped,
      })
    }
  }
}

async function openOutput(path: string | undefined, target: DedupeTarget): Promise<Output> {
  try {
    return new Output(path)
  } catch (error) {
    await target.end()
    throw error
  }
}

/** The counts for people: what is zero is left out. */
function summary(lines: number, verdicts: Pick<Counts, 'new' | 'seen'>, invalid: number): string[] {
  const rows: readonly [number, string][] = [
    [lines, lines === 1 ? 'line' : 'lines'],
    [verdicts.new, 'new'],
    [verdicts.seen, 'seen'],
    [invalid, invalid === 1 ? 'not a URL' : 'not URLs'],
  ]
  return rows.flatMap(([value, what], i) => (value > 0 || i < 2 ? [`${formatShort(value)} ${what}`] : []))
}
