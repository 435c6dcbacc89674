// A call with many URLs that fails on the way says what stands: the verdicts of its first batches.
import { describe, expect, it } from 'vitest'
import { SieveError } from '../src/errors.ts'
import type { Journal } from '../src/journal.ts'
import { Sieve } from '../src/sieve.ts'
import { STATE } from '../src/state.ts'

const urls = Array.from({ length: 5000 }, (_, i) => `https://example.com/${i}`)

/** A journal that refuses everything after its first `batches`. */
function refusingAfter(batches: number): Journal {
  let left = batches
  return {
    amend() {},
    added() {
      if (left-- <= 0) throw new SieveError('disk', 'cannot write: no space left on the device')
    },
    deleted() {},
    cleared() {},
    sync() {},
    save: async () => {},
    close: async () => {},
    info: () => ({}) as ReturnType<Journal['info']>,
  }
}

function failureOf(act: () => unknown): SieveError {
  try {
    act()
  } catch (error) {
    return error as SieveError
  }
  throw new Error('expected a failure')
}

describe('a disk that refuses in the middle of a call', () => {
  it.each(['addMany', 'addLines'] as const)('%s gives the verdicts of the batches before', async (verb) => {
    const sieve = await Sieve.create()
    sieve[STATE].journal = refusingAfter(1)
    const bytes = new TextEncoder().encode(`${urls.join('\n')}\n`)
    const failure = failureOf(() => (verb === 'addMany' ? sieve.addMany(urls) : sieve.addLines(bytes)))
    expect(failure.code).toBe('disk')
    expect(failure.answered).toEqual(new Uint8Array(2048).fill(1))
    expect(sieve.stats().urls).toBe(2048)
  })
})
