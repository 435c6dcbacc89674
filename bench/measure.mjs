// One program, run once in a fresh process: wall time, CPU time and peak memory.
// Linux only for the last two: the kernel's high-water mark (VmHWM) and CPU clock of the process and all its
// descendants are read from /proc every 20 ms, so what happens in the last 20 ms may be missing.

import { spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync } from 'node:fs'

const pollMs = 20
const clockTickMs = 10
const stderrKeptBytes = 2000

// Certificates that the environment adds to Node's own are read by every Node program when it starts, which takes 28 ms: nothing that a
// program of the benchmark needs.
const { NODE_EXTRA_CA_CERTS: _, ...environment } = process.env

/**
 * Runs `program` with `args`, standard input and output being the files named. Rejects when it does not exit
 * with 0, or when `signal` ends it.
 */
export function measure({ program, args = [], env = {}, inputFile, outputFile, signal }) {
  const input = inputFile === undefined ? 'ignore' : openSync(inputFile, 'r')
  const output = outputFile === undefined ? 'pipe' : openSync(outputFile, 'w')
  return new Promise((resolve, reject) => {
    const started = process.hrtime.bigint()
    let exited = started
    let stdout = ''
    let stderr = ''
    const stdio = [input, output, 'pipe']
    const child = spawn(program, args, { stdio, env: { ...environment, ...env }, signal })
    for (const fd of [input, output]) if (typeof fd === 'number') closeSync(fd) // the child has its own
    const watch = new ProcessWatch(child.pid)
    const timer = setInterval(() => watch.sample(), pollMs)
    child.stdout?.setEncoding('utf8').on('data', (text) => {
      stdout += text
    })
    child.stderr.setEncoding('utf8').on('data', (text) => {
      stderr = (stderr + text).slice(-stderrKeptBytes)
    })
    child.once('exit', () => {
      exited = process.hrtime.bigint()
      clearInterval(timer)
    })
    child.once('error', (error) => {
      clearInterval(timer)
      reject(error)
    })
    child.once('close', (code, killedBy) => {
      const wallMs = Number(exited - started) / 1e6
      if (code === 0) resolve({ wallMs, ...watch.result(), stdout })
      else reject(new Error(`${program} ended with ${killedBy ?? `exit code ${code}`}: ${messageOf(stderr)}`))
    })
  })
}

/** Peak memory, CPU time and bytes written to disk of a process and all its descendants. */
export class ProcessWatch {
  peaks = new Map()
  written = new Map()

  constructor(pid) {
    this.pid = pid
    this.sample()
  }

  sample(pid = this.pid) {
    try {
      const rssKib = Number(/^VmHWM:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])
      // A dying process has no VmHWM any more; keep what was seen before.
      if (!(rssKib > 0)) return
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
      // utime and stime are fields 14 and 15; the name, field 2, may hold spaces and ends at the last ')'.
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      this.peaks.set(pid, { rssKib, cpuMs: (Number(fields[11]) + Number(fields[12])) * clockTickMs })
      this.written.set(pid, writtenBytes(pid))
      const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim()
      if (children) for (const child of children.split(' ')) this.sample(Number(child))
    } catch {
      // Not Linux, or the process has gone between two reads.
    }
  }

  result() {
    if (this.peaks.size === 0) return { peakRssBytes: null, cpuMs: null, writtenBytes: null }
    const peaks = [...this.peaks.values()]
    return {
      peakRssBytes: peaks.reduce((sum, { rssKib }) => sum + rssKib * 1024, 0),
      cpuMs: peaks.reduce((sum, { cpuMs }) => sum + cpuMs, 0),
      writtenBytes: [...this.written.values()].reduce((sum, bytes) => sum + bytes, 0),
    }
  }
}

/** What a process has caused to be written to disk; what was removed before that is not in it. */
function writtenBytes(pid) {
  const io = readFileSync(`/proc/${pid}/io`, 'utf8')
  return Number(/^write_bytes: (\d+)/m.exec(io)?.[1]) - Number(/^cancelled_write_bytes: (\d+)/m.exec(io)?.[1])
}

/** The line that names the error; Node prints a stack and its version after it. */
function messageOf(stderr) {
  const lines = stderr.trim().split('\n')
  return lines.find((line) => /^\w*Error\b/.test(line)) ?? (lines.at(-1) || 'no message')
}
