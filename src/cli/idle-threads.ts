// The threads of `dedupe`. Starting one takes as long as loading the command, so those that the arguments ask for start before
// that and wait for their work; when it turns out that they are not needed, they end with the process.
import { parseArgs } from 'node:util'
import { Worker } from 'node:worker_threads'
import { likelyBytes } from './input-size.ts'
import { threadsOf } from './thread-count.ts'

/** Options of `dedupe` with which threads share the work. With others none are started early. */
const OPTIONS = {
  threads: { type: 'string' },
  profile: { type: 'string' },
  output: { type: 'string', short: 'o' },
  state: { type: 'string' },
  repeated: { type: 'boolean' },
  keys: { type: 'boolean' },
  stats: { type: 'boolean' },
  quiet: { type: 'boolean' },
} as const

const idle = new Set<Worker>()

/** Starts the threads that a command with these arguments will have, as far as that is known before it is loaded. */
export function startThreadsOf([command, ...args]: readonly string[]): void {
  if (command !== 'dedupe') return
  try {
    for (let i = 1; i < countOf(args); i++) {
      const thread = newThread()
      thread.unref()
      thread.once('error', () => idle.delete(thread)).once('exit', () => idle.delete(thread))
      idle.add(thread)
    }
  } catch {
    // The command itself reports what is wrong.
  }
}

/** A thread that waits for its setting. */
export function takeThread(): Worker {
  const [thread] = idle
  if (!thread) return newThread()
  idle.delete(thread)
  thread.ref()
  return thread
}

function countOf(args: string[]): number {
  const { values, positionals } = parseArgs({ args, options: OPTIONS, allowPositionals: true })
  const given = values.threads === undefined ? undefined : Number(values.threads)
  const paths = positionals.length > 0 ? positionals : ['-']
  return threadsOf(given, likelyBytes(paths), () => true)?.count ?? 1
}

// As deep as this module, here and in the built package.
const newThread = () => new Worker(new URL('../cli/dedupe-worker.js', import.meta.url))
