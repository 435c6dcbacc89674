// Loaded into every thread of the command (--import): ends its workers in the way that DEATH names, when it has
// done a few chunks.
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { isMainThread } from 'node:worker_threads'

if (!isMainThread) {
  // A thread calls the first to take its turn to read, the other once per chunk.
  if (process.env.DEATH === 'throw') Atomics.compareExchange = after(3, Atomics.compareExchange)
  else fs.writeSync = after(3, fs.writeSync)
  syncBuiltinESMExports()
}

function after(calls, call) {
  let left = calls
  return (...args) => {
    if (left-- === 0) die()
    return call(...args)
  }
}

function die() {
  if (process.env.DEATH === 'exit') process.exit(0)
  if (process.env.DEATH === 'throw') throw new TypeError('a defect')
  const held = []
  for (;;) held.push(new Array(1e6).fill({}))
}
