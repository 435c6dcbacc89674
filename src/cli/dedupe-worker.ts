// The module of a thread of `urlsieve dedupe`: connects it with files, the output and the main thread.
import { parentPort } from 'node:worker_threads'
import { isAllocationFailure, SieveError, type SieveErrorCode } from '../errors.ts'
import { SharedRun } from '../threads/shared-run.ts'
import { TablePart } from '../threads/table-part.ts'
import { SieveThread, type ThreadSetting } from '../threads/thread.ts'
import type { Beginning, Report } from '../threads/thread-pool.ts'
import { CommandError, reason } from './exit.ts'
import { ClosedPipe } from './output.ts'
import { threadPorts } from './thread-ports.ts'

export interface DedupeThreadSetting extends ThreadSetting {
  readonly outputFd: number
  readonly outputName: string
}

/** An error on its way to the main thread, which throws it there. */
export type ThreadFailure =
  | { readonly kind: 'closed-pipe' }
  | { readonly kind: 'command'; readonly exitCode: number; readonly message: string }
  | { readonly kind: 'sieve'; readonly code: SieveErrorCode; readonly message: string }
  | { readonly kind: 'unreadable'; readonly message: string }
  | { readonly kind: 'other'; readonly message: string }

function failureOf(error: unknown): ThreadFailure {
  if (error instanceof ClosedPipe) return { kind: 'closed-pipe' }
  const { message } = error as Error
  if (error instanceof CommandError) return { kind: 'command', exitCode: error.exitCode, message }
  if (error instanceof SieveError) return { kind: 'sieve', code: error.code, message }
  if (isAllocationFailure(error))
    return { kind: 'sieve', code: 'memory', message: `no memory left: ${message}` }
  return { kind: 'other', message }
}

const nextMessage = <T>() => new Promise<T>((resolve) => parentPort!.once('message', resolve))
const report = (text: Report<ThreadFailure>) => parentPort!.postMessage(text)

try {
  const setting = await nextMessage<DedupeThreadSetting>()
  const { index, shape, buffer, module, plan, hash } = setting
  const run = new SharedRun(shape, buffer)
  const part = plan && index < shape.parts ? TablePart.create(run, index, module, plan, hash) : null
  const ports = {
    ...threadPorts(setting.outputName, setting.outputFd),
    readFailed: (error: unknown) => report({ unreadable: { kind: 'unreadable', message: reason(error) } }),
  }
  const thread = new SieveThread(run, setting, ports, part)
  const { hashes } = await nextMessage<Beginning>()
  part?.fill(hashes)
  thread.work()
  report({ measure: part?.measure() ?? null })
} catch (error) {
  report({ failure: failureOf(error) })
}
