// The run of `urlsieve dedupe`, whatever remembers: inputs through a sieve, kept lines to the outputs, then what was delivered is
// confirmed; one summary. Whatever ends it, nothing is remembered that was not delivered.
import type { Profile } from '../canonical/profiles.ts'
import type { Delivered } from '../journal.ts'
import { formatCount, formatCounted, formatShort } from '../quantities.ts'
import { DeliveredFiles } from './delivered-files.ts'
import { CommandError, EXIT } from './exit.ts'
import type { LineLimits } from './line-limits.ts'
import { Output, warnOfNoUrls, writeStats } from './output.ts'
import { type Placing, placedOutput } from './placing.ts'
import { Progress } from './progress.ts'
import { Stopped, stop } from './stop.ts'

export interface DedupeRequest {
  readonly paths: readonly string[]
  /** Of all inputs; null when one of them has no size. */
  readonly totalBytes: number | null
  readonly keep: 'new' | 'seen'
  readonly output?: string
  readonly placing: Placing
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
 * Takes kept lines, and the position in the file on disk where that is known. Wait for the promise, where there is one, before the next
 * call: then they are delivered, and confirmed where the target confirms. `isLater`: they are written while the caller goes on; a last
 * such call without lines waits until all are written. Throws `Stopped` before it has taken anything.
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
  /** It remembers after the run. */
  readonly outlivesRun: boolean
  /** All that was given to `write` was delivered. */
  confirm?(): void | Promise<void>
  /** Files that it writes besides. */
  readonly files?: readonly Delivered[]
  /** Of one that remembers: what is to be on the disk before what confirms it. */
  deliverTo?(files: Delivered): void
  /** Of a sieve that may have been stored with another one than the flags describe. */
  readonly profile?: Profile
  /** Closes the sieve and returns what else the summary reports. */
  end(): Promise<{ readonly invalid: number; readonly sizeBytes: number | null }>
  /** Warnings after the summary's own. */
  warn?(): void
}

export async function runDedupe(target: DedupeTarget, request: DedupeRequest): Promise<void> {
  const { limits } = request
  const output = await openOutput(request, target)
  const progress = new Progress(request.totalBytes, request.quiet)
  if (target.outlivesRun) {
    stop.listen()
    target.deliverTo?.(new DeliveredFiles([output, ...(limits?.files ?? []), ...(target.files ?? [])]))
  }
  /** Bytes of the inputs before this one, and of this one. */
  let before = 0
  let position = 0
  const write = (kept: Uint8Array, at?: number, isLater = false): Promise<void> | undefined => {
    stop.check()
    const lines = limits ? limits.keep(kept, target.profile) : kept
    const wait = isLater ? output.writeBehind(lines) : deliver(output, lines, target, limits)
    if (isLater) void limits?.list(false)
    position = at ?? target.counts().bytes - before
    progress.tick(() => {
      const { lines, new: fresh } = target.counts()
      return { lines, fresh, bytes: before + position }
    })
    return wait
  }
  const finish = () => target.finish?.((kept, _, isLater) => write(kept, 0, isLater))
  let hasEnded = false
  try {
    try {
      for (const path of request.paths) {
        await target.sift(path, write, output)
        before += position
        position = 0
      }
    } catch (error) {
      // Of an input that cannot be read to its end, what was read is done.
      if (isOfInput(error)) await finish()
      throw error
    }
    await finish()
    hasEnded = true
  } catch (error) {
    throw error instanceof Stopped ? stopped(error, target.counts()) : error
  } finally {
    progress.done()
    await output.settle()
    const { invalid, sizeBytes, ...others } = await target.end()
    output.close()
    limits?.close()
    const { lines, bytes, ...verdicts } = target.counts()
    if (hasEnded) progress.finish(summary(lines, verdicts, invalid), lines)
    // After a signal one line says where it stopped.
    if (!stop.isStopped) {
      warnOfNoUrls(lines, invalid)
      target.warn?.()
    }
    if (request.stats) {
      const seconds = (performance.now() - request.startedAt) / 1000
      const dropped = limits && { dropped: limits.stats() }
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

// A target that remembers is told what was delivered, and a reader that is slow keeps it from nothing else.
function deliver(
  output: Output,
  lines: Uint8Array,
  target: DedupeTarget,
  limits: LineLimits | undefined,
): Promise<void> | undefined {
  if (!target.outlivesRun) {
    output.write(lines)
    void limits?.list(false)
    return undefined
  }
  const isWritten = output.deliver(lines)
  const isListed = isWritten ? isWritten.then(() => limits?.list(true)) : limits?.list(true)
  return isListed ? isListed.then(() => target.confirm?.()) : (target.confirm?.() ?? undefined)
}

// Plain files are written to at two places.
function checkApart(files: readonly Delivered[]): void {
  const outputs = files.filter((file) => file instanceof Output)
  for (const [i, output] of outputs.entries()) {
    const other = outputs.slice(0, i).find((before) => before.isSame(output))
    if (!other) continue
    throw new CommandError(EXIT.usage, `${other.name} and ${output.name} are the same file: expected two`)
  }
}

const isOfInput = (error: unknown) => error instanceof CommandError && error.exitCode === EXIT.input

function stopped(error: Stopped, { lines, new: fresh }: Counts): CommandError {
  return new CommandError(
    error.exitCode,
    `${error.message} after ${formatCounted(lines, 'line')}, ${formatCount(fresh)} new: what was written is remembered; the next run goes on from there`,
  )
}

async function openOutput(request: DedupeRequest, target: DedupeTarget): Promise<Output> {
  try {
    const output = placedOutput(request.output, request.placing)
    checkApart([output, ...(request.limits?.files ?? []), ...(target.files ?? [])])
    return output
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
