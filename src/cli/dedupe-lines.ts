// `urlsieve dedupe` through a sieve that answers later: LevelDB on the disk, or Redis.
import { keepLines } from '../lines/keep.ts'
import { siftLines } from '../lines/sift.ts'
import { Delivery, type Forget } from './delivery.ts'
import { readChunks } from './input.ts'
import { Output, tellStats, warnOfNoUrls } from './output.ts'
import { Progress } from './progress.ts'

export interface LinesRequest {
  readonly paths: readonly string[]
  readonly totalBytes: number | null
  readonly keep: 'new' | 'seen'
  readonly output?: string
  readonly stats: boolean
  readonly quiet: boolean
}

export interface LinesSieve {
  /** One verdict a line: 1 new, 0 seen; 2 unknown, which is printed as new. */
  addLines(bytes: Uint8Array): Promise<Uint8Array>
  readonly forget: Forget
  /** Closes it and says what the last line tells; null where it cannot be known. */
  end(): Promise<{ readonly invalid: number; readonly sizeBytes: number | null; readonly unknown?: number }>
}

// A line that a file ends with has its newline here, so that the next file's first is its own.
async function* chunksOf(paths: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const path of paths) {
    let last = 10
    for await (const chunk of readChunks(path)) {
      last = chunk.at(-1) ?? last
      yield chunk
    }
    if (last !== 10) yield Buffer.of(10)
  }
}

export async function dedupeLines(sieve: LinesSieve, request: LinesRequest): Promise<void> {
  const started = performance.now()
  const output = new Output(request.output)
  const delivery = new Delivery(output)
  const progress = new Progress(request.totalBytes, request.quiet)
  const counts = { lines: 0, new: 0, seen: 0, bytes: 0 }
  try {
    for await (const batch of siftLines(sieve, chunksOf(request.paths))) {
      delivery.write(keepLines(batch, request.keep))
      for (const verdict of batch.verdicts) {
        counts.new += Number(verdict === 1)
        counts.seen += Number(verdict === 0)
      }
      counts.lines += batch.verdicts.length
      counts.bytes += batch.lines.length
      progress.tick(() => ({ lines: counts.lines, fresh: counts.new, bytes: counts.bytes }))
    }
  } finally {
    progress.done()
    if (request.keep === 'new') await delivery.takeBack(sieve.forget)
    output.close()
    const { invalid, sizeBytes, ...unknown } = await sieve.end()
    warnOfNoUrls(counts.lines, invalid)
    if (request.stats) {
      const seconds = (performance.now() - started) / 1000
      const urlsPerSecond = Math.round(counts.lines / seconds)
      tellStats({ ...counts, ...unknown, invalid, seconds, urlsPerSecond, sizeBytes })
    }
  }
}
