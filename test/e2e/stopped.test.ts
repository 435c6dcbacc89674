// A signal ends a run of `dedupe` as a signal does, whatever else went wrong before.
import { expect, it, vi } from 'vitest'
import { type DedupeTarget, runDedupe } from '../../src/cli/dedupe-run.ts'
import { CommandError, EXIT } from '../../src/cli/exit.ts'
import { temporaryFolder } from './command.ts'

it('while what was read of a damaged input is done', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout'] })
  const target: DedupeTarget = {
    outlivesRun: true,
    async sift() {
      throw new CommandError(EXIT.input, 'it ends too early')
    },
    async finish(write) {
      process.emit('SIGTERM')
      await write(Buffer.from('https://a.example/\n'))
    },
    counts: () => ({ lines: 1, new: 1, seen: 0, bytes: 19 }),
    end: async () => ({ invalid: 0, sizeBytes: null }),
  }
  const placing = { outlivesRun: true, end: { byte: 10, isQuoted: false } }
  const output = `${temporaryFolder()}/out`
  const request = { paths: ['in'], totalBytes: 19, keep: 'new', output, placing, startedAt: 0 } as const
  const run = runDedupe(target, { ...request, stats: false, quiet: true })
  const error = await run.catch((thrown) => thrown)
  expect(error).toBeInstanceOf(CommandError)
  expect(error.exitCode).toBe(143)
  expect(error.message).toMatch(/^stopped by SIGTERM after 1 line/)
})
