// The threads of `dedupe`. Starting one takes as long as loading the command, so those that the arguments ask for start before
// that and wait for their work; when it turns out that they are not needed, they end with the process.
import { parseArgs } from 'node:util'
import { setFlagsFromString } from 'node:v8'
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
    const count = countOf(args)
    if (count > 1) optimiseLate()
    for (let i = 1; i < count; i++) {
      const thread = newThread()
      thread.unref()
      thread.once('error', () => idle.delete(thread)).once('exit', () => idle.delete(thread))
      idle.add(thread)
    }
  } catch {
    // The command itself reports what is wrong.
  }
}

/** Bytes of interpreted code that a function runs before the engine optimises it: 15 times as many as usual. */
const OPTIMISED_AFTER = 2_000_000

// The engine compiles on other threads, which would take the processors from ours, and the JavaScript between two calls of the kernel is
// short: 30 ms of compiling did not pay. What runs for each URL is still optimised, a little later.
function optimiseLate(): void {
  setFlagsFromString(`--interrupt-budget=${OPTIMISED_AFTER}`)
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
