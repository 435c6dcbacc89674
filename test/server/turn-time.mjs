// Loaded into a server: the processor time of its longest turn of the event loop, which other processes do not change. At
// SIGUSR2 it is written to stderr and begins anew.
import { openSync, readSync, writeSync } from 'node:fs'

const buffer = Buffer.alloc(64)
const file = openSync(`/proc/self/task/${process.pid}/schedstat`)
const processorMs = () => {
  const size = readSync(file, buffer, 0, buffer.length, 0)
  return Number(buffer.toString('latin1', 0, size).split(' ')[0]) / 1e6
}

let last = processorMs()
let longest = 0
setInterval(() => {
  const now = processorMs()
  longest = Math.max(longest, now - last)
  last = now
}, 1).unref()

process.on('SIGUSR2', () => {
  writeSync(2, `${JSON.stringify({ turnMs: longest })}\n`)
  longest = 0
})
