// How a thread of `dedupe`, the main one or another, reads a file and writes the output.
import { readSync } from 'node:fs'
import type { ThreadPorts } from '../threads/thread.ts'
import { Output } from './output.ts'

/** Of an output that is open already. */
export function threadPorts(name: string, fd: number): Pick<ThreadPorts, 'read' | 'write' | 'written'> {
  const output = new Output(name, { fd })
  return {
    read: (descriptor, buffer) => readSync(descriptor, buffer, 0, buffer.length, null),
    write: (bytes) => output.write(bytes),
    written: () => output.written,
  }
}
