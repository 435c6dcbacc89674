// How a thread of `dedupe`, the main one or another, reads a file and writes the output.
import { readSync } from 'node:fs'
import type { ThreadPorts } from '../threads/thread.ts'
import { Output } from './output.ts'

/** Of an output that is open already. `isPatient`: the thread has other work, such as to hear signals, while a pipe is full. */
export function threadPorts(
  name: string,
  fd: number,
  isPatient = false,
): Pick<ThreadPorts, 'read' | 'write'> {
  const output = new Output(name, { fd })
  return {
    read: (descriptor, buffer) => readSync(descriptor, buffer, 0, buffer.length, null),
    write: (bytes) => (isPatient ? output.deliver(bytes) : output.write(bytes)),
  }
}
