// OBJECT and MEMORY: how a sieve is stored and when it was last used.
import type { ServedSieve } from '../registry.ts'
import { type Call, type Command, NOT_INTEGER, SYNTAX, wholeOf } from './command.ts'
import { defineContainer } from './container.ts'
import { Failure, type Reply } from './replies.ts'

const sieveAt = (call: Call): ServedSieve | undefined => call.server.registry.get(call.name(2))

const NO_FREQUENCY = new Failure(
  'ERR An LFU maxmemory policy is not selected, access frequency not tracked. Please note that when switching between policies at runtime LRU and LFU data will take some time to adjust.',
)

const object = defineContainer({
  name: 'OBJECT',
  does: 'How a sieve is stored, and when it was last used',
  group: 'generic',
  flags: ['readonly'],
  subcommands: [
    {
      name: 'ENCODING',
      syntax: 'key',
      does: 'raw for a filter of BF.*, hashtable for a set, the filter of a sieve',
      returns: 'the encoding, or nil',
      run(call) {
        const sieve = sieveAt(call)
        if (!sieve) return null
        const encodings = { bloom: 'raw', set: 'hashtable', sieve: undefined }
        return encodings[sieve.kind] ?? sieve.plan?.filter ?? 'fingerprint'
      },
    },
    {
      name: 'FREQ',
      syntax: 'key',
      does: 'An error, as in a Redis that does not evict by frequency',
      returns: 'an error, or nil',
      run: (call) => (sieveAt(call) ? NO_FREQUENCY : null),
    },
    {
      name: 'IDLETIME',
      syntax: 'key',
      does: 'Seconds since the last add or query',
      returns: 'a number, or nil',
      run(call) {
        const sieve = sieveAt(call)
        if (!sieve) return null
        return Math.max(0, Math.floor((Date.now() - (sieve.usedAt ?? Date.now())) / 1000))
      },
    },
    {
      name: 'REFCOUNT',
      syntax: 'key',
      does: 'Always 1',
      returns: '1, or nil',
      run: (call) => (sieveAt(call) ? 1 : null),
    },
  ],
})

async function usage(call: Call): Promise<Reply> {
  for (let i = 3; i < call.count; i += 2) {
    if (call.word(i) !== 'SAMPLES' || i + 1 === call.count) return SYNTAX
    const samples = wholeOf(call.text(i + 1))
    if (samples === null) return NOT_INTEGER
    if (samples < 0) return SYNTAX
  }
  const sieve = sieveAt(call)
  return sieve ? Math.ceil((await sieve.stats()).sizeBytes) : null
}

const memory = defineContainer({
  name: 'MEMORY',
  does: 'The memory of a sieve',
  group: 'server',
  flags: ['readonly'],
  subcommands: [
    {
      name: 'USAGE',
      syntax: 'key [SAMPLES count:integer]',
      does: 'Bytes of the filter',
      returns: 'a number, or nil',
      run: usage,
    },
  ],
})

export const objectCommands: readonly Command[] = [object, memory]
