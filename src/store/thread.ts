// One thread for all stores of a process. It runs what must not block the caller, but whose end the caller may have to
// wait for without going back to its event loop: an fdatasync, and the question whether a Unix socket has a listener.
import { getSystemErrorName } from 'node:util'
import { Worker } from 'node:worker_threads'

const PENDING = 0
const DONE = 1

// `cell` holds the state and, when done, the error number (0: none). Node's own thread pool does the work: a slow disk
// does not delay the next task.
const CODE = `
const { parentPort } = require('node:worker_threads')
const { fdatasync } = require('node:fs')
const { connect } = require('node:net')
parentPort.on('message', ({ id, kind, target, cell }) => {
  const end = (error) => {
    Atomics.store(cell, 1, error ? error.errno || -5 : 0)
    Atomics.store(cell, 0, ${DONE})
    Atomics.notify(cell, 0)
    parentPort.postMessage(id)
  }
  if (kind === 'fdatasync') return fdatasync(target, end)
  const socket = connect(target)
  socket.once('connect', () => { socket.destroy(); end() })
  socket.once('error', end)
})`

/** Something that the thread does. */
export class Task {
  readonly #cell = new Int32Array(new SharedArrayBuffer(8))
  /** The error's code, such as EIO, or null; resolves from the event loop. */
  readonly done: Promise<string | null>

  constructor(kind: 'fdatasync' | 'connect', target: number | string) {
    const id = nextId++
    this.done = new Promise((resolve) => waiting.set(id, () => resolve(this.#code())))
    thread().postMessage({ id, kind, target, cell: this.#cell })
    worker?.ref()
  }

  get isDone(): boolean {
    return Atomics.load(this.#cell, 0) === DONE
  }

  /** Blocks until it is done; returns the error's code, such as EIO, or null. */
  wait(): string | null {
    Atomics.wait(this.#cell, 0, PENDING)
    return this.#code()
  }

  #code(): string | null {
    const errno = this.#cell[1]!
    return errno === 0 ? null : getSystemErrorName(errno)
  }
}

let nextId = 0
let worker: Worker | undefined
/** What to call when a task is done. While there are any, the process does not end. */
const waiting = new Map<number, () => void>()

function thread(): Worker {
  if (worker) return worker
  const limits = { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 1 }
  worker = new Worker(CODE, { eval: true, execArgv: [], resourceLimits: limits })
  worker.unref()
  worker.on('message', (id: number) => {
    waiting.get(id)?.()
    waiting.delete(id)
    if (waiting.size === 0) worker?.unref()
  })
  return worker
}
