// One run of the command, ended by a signal when that many bytes were delivered: to a pipe that is read here, or to files
// whose sizes are watched.
import { spawn, spawnSync } from 'node:child_process'
import { closeSync, constants, existsSync, openSync, readdirSync, rmSync, statSync } from 'node:fs'
import { Socket } from 'node:net'
import { join } from 'node:path'

/** A run that takes longer hangs. */
const MOST_MS = 120_000
const WATCH_MS = 1

let pipes = 0

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

/** Bytes of a file, or of the files of a folder; 0 when it is not there. */
export function sizeOf(path) {
  try {
    const stat = statSync(path)
    if (!stat.isDirectory()) return stat.size
    return readdirSync(path).reduce((sum, name) => sum + statSync(join(path, name)).size, 0)
  } catch {
    return 0
  }
}

/**
 * Runs a command, with `watched` files that it delivers to. `pipe`: a named pipe for its stdout; else `append`: a file for it, or none. `end`: the signal, after
 * `bytes` bytes (0: before the first, after `ms`), when reading has rested for `ms`.
 */
export async function run({ command, args, env, pipe, append, stdin, watched = [], end }) {
  const reader = pipe ? new PipeReader(pipe) : null
  const out = reader ? reader.writeFd : append ? openSync(append, 'a') : 'ignore'
  const input = stdin ? pipeFrom(stdin, `${stdin}-${++pipes}`) : null
  const [program, ...first] = command
  const child = spawn(program, [...first, ...args], {
    env: { ...process.env, NODE_EXTRA_CA_CERTS: undefined, ...env },
    stdio: [input ?? 'ignore', out, 'pipe'],
  })
  if (input !== null) closeSync(input)
  const over = new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => resolve({ code, signal }))
  })
  if (reader) reader.begin()
  else if (append) closeSync(out)
  let stderr = ''
  child.stderr.on('data', (chunk) => (stderr += chunk))
  let isOver = false
  let hangs = false
  const patience = setTimeout(() => {
    hangs = true
    child.kill('SIGKILL')
  }, MOST_MS)
  const signal = async (isStill) => {
    if (isStill) reader?.pause()
    await sleep(end.ms)
    if (!isOver) child.kill(end.signal)
    reader?.resume()
  }
  const before = watched.reduce((sum, path) => sum + sizeOf(path), 0)
  const watch = async () => {
    for (;;) {
      const size = reader ? reader.bytes : watched.reduce((sum, path) => sum + sizeOf(path), 0) - before
      if (isOver || size >= end.bytes) break
      await (reader ? reader.more() : sleep(WATCH_MS))
    }
    if (!isOver) await signal(end.rests)
  }
  const watching = end ? watch() : null
  const ended = await over
  isOver = true
  clearTimeout(patience)
  const delivered = reader ? await reader.all() : null
  await watching
  return { ...ended, stderr, delivered, hangs }
}

// A real pipe, which holds 64 KiB: those of child processes are sockets.
class PipeReader {
  bytes = 0
  #parts = []
  #socket
  #ended
  #wake = () => {}

  constructor(path) {
    if (!existsSync(path)) spawnSync('mkfifo', [path])
    const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
    this.writeFd = openSync(path, constants.O_WRONLY)
    this.#socket = new Socket({ fd, readable: true, writable: false })
    this.#ended = new Promise((resolve) => this.#socket.once('close', resolve))
    this.#ended.then(() => this.#wake())
  }

  begin() {
    closeSync(this.writeFd)
    this.#socket.on('data', (chunk) => {
      this.#parts.push(chunk)
      this.bytes += chunk.length
      this.#wake()
    })
  }

  pause() {
    this.#socket.pause()
  }

  resume() {
    this.#socket.resume()
  }

  /** Waits for the next bytes, or the end. */
  more() {
    if (this.#socket.destroyed) return sleep(WATCH_MS)
    return new Promise((resolve) => {
      this.#wake = resolve
    })
  }

  /** What came until the pipe's end. */
  async all() {
    await this.#ended
    return Buffer.concat(this.#parts)
  }
}

/** Returns the end of a pipe that `cat` writes a file to. */
function pipeFrom(file, path) {
  spawnSync('mkfifo', [path])
  const both = openSync(path, constants.O_RDWR) // else each end would wait for the other
  const end = openSync(path, constants.O_RDONLY)
  const writer = openSync(path, constants.O_WRONLY)
  rmSync(path)
  spawn('cat', [file], { stdio: ['ignore', writer, 'ignore'] })
  closeSync(writer)
  closeSync(both)
  return end
}
