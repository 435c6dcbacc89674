// `urlsieve dedupe` through a sieve that answers later: LevelDB on the disk, or Redis.
import { createReadStream } from 'node:fs'
import { createGunzip } from 'node:zlib'
import { keptLines, siftLines } from '../exact/line-batches.ts'
import { CommandError, EXIT, reason } from './exit.ts'
import { Output, tell } from './output.ts'
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
  addLines(bytes: Uint8Array): Promise<Uint8Array>
  /** Closes it and says what the last line tells; null where it cannot be known. */
  end(): Promise<{ readonly invalid: number; readonly sizeBytes: number | null }>
}

const CHUNK_BYTES = 256 * 1024

// A line that a file ends with has its newline here, so that the next file's first is its own.
async function* chunksOf(paths: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const path of paths) {
    const file = path === '-' ? process.stdin : createReadStream(path, { highWaterMark: CHUNK_BYTES })
    const gunzip = path.endsWith('.gz') ? createGunzip() : null
    if (gunzip) file.on('error', (error: Error) => gunzip.destroy(error)).pipe(gunzip)
    let last = 10
    try {
      for await (const chunk of (gunzip ?? file) as AsyncIterable<Buffer>) {
        last = chunk.at(-1) ?? last
        yield chunk
      }
    } catch (error) {
      throw new CommandError(EXIT.input, `cannot read ${path === '-' ? 'stdin' : path}: ${reason(error)}`)
    }
    if (last !== 10) yield Buffer.of(10)
  }
}

export async function dedupeLines(sieve: LinesSieve, request: LinesRequest): Promise<void> {
  const started = performance.now()
  const output = new Output(request.output)
  const progress = new Progress(request.totalBytes, request.quiet)
  const counts = { lines: 0, new: 0, seen: 0, bytes: 0 }
  try {
    for await (const batch of siftLines(sieve, chunksOf(request.paths))) {
      output.write(keptLines(batch, request.keep))
      const fresh = batch.verdicts.reduce((sum, verdict) => sum + verdict, 0)
      counts.lines += batch.verdicts.length
      counts.new += fresh
      counts.seen += batch.verdicts.length - fresh
      counts.bytes += batch.lines.length
      progress.tick(() => ({ lines: counts.lines, fresh: counts.new, bytes: counts.bytes }))
    }
  } finally {
    progress.done()
    output.close()
    const { invalid, sizeBytes } = await sieve.end()
    if (request.stats) {
      const seconds = (performance.now() - started) / 1000
      const urlsPerSecond = Math.round(counts.lines / seconds)
      tell(`${JSON.stringify({ ...counts, invalid, seconds, urlsPerSecond, sizeBytes })}\n`)
    }
  }
}
