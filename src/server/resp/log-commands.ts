// SLOWLOG and LATENCY: which commands took long, and how long each command takes.
import { type Call, type Command, wholeOf } from './command.ts'
import { defineContainer } from './container.ts'
import { Failure, OK, type Reply, Table, Verbatim } from './replies.ts'
import type { CommandUse } from './statistics.ts'

const DEFAULT_COUNT = 10

const slowlog = defineContainer({
  name: 'SLOWLOG',
  does: 'The commands that took longer than slowlog-log-slower-than',
  group: 'server',
  flags: ['admin'],
  needsNoDatabase: true,
  subcommands: [
    {
      name: 'GET',
      syntax: '[count:integer]',
      does: 'The newest first; -1: all',
      returns: 'number, time, microseconds, arguments, address and name of the client of each',
      run(call) {
        const count = call.count === 2 ? DEFAULT_COUNT : wholeOf(call.text(2))
        if (count === null || count < -1 || call.count > 3) {
          return new Failure('ERR count should be greater than or equal to -1')
        }
        const { slow } = call.server.statistics
        return (count === -1 ? slow : slow.slice(0, count)).map(
          ({ id, at, micros, args, address, client }) => [
            id,
            Math.floor(at.getTime() / 1000),
            micros,
            args,
            address,
            client,
          ],
        )
      },
    },
    {
      name: 'LEN',
      syntax: '',
      does: 'Their number',
      returns: 'a number',
      run: (call) => call.server.statistics.slow.length,
    },
    {
      name: 'RESET',
      syntax: '',
      does: 'Forgets them',
      returns: 'OK',
      run(call) {
        call.server.statistics.slow = []
        return OK
      },
    },
  ],
})

function histogramOf({ calls, buckets }: CommandUse): Table {
  const rows: [Reply, Reply][] = []
  let sum = 0
  for (const [i, count] of buckets.entries()) {
    sum += count
    if (count > 0) rows.push([2 ** i, sum])
  }
  return new Table([
    ['calls', calls],
    ['histogram_usec', new Table(rows)],
  ])
}

function histogram(call: Call): Reply {
  const wanted = new Set(Array.from({ length: call.count - 2 }, (_, i) => call.word(i + 2)))
  const uses = [...call.server.statistics.uses()].filter(
    ([name, { calls }]) => calls > 0 && (wanted.size === 0 || wanted.has(name)),
  )
  return new Table(uses.map(([name, use]) => [name.toLowerCase(), histogramOf(use)]))
}

const latency = defineContainer({
  name: 'LATENCY',
  does: 'How long commands take. Spikes are not recorded, as in a Redis without latency-monitor-threshold',
  group: 'server',
  flags: ['admin'],
  needsNoDatabase: true,
  subcommands: [
    {
      name: 'HISTOGRAM',
      syntax: '[command [command ...]]',
      does: 'The durations of commands, in microseconds',
      returns: 'for each command its calls and a histogram',
      run: histogram,
    },
    { name: 'LATEST', syntax: '', does: 'Spikes', returns: 'an empty array', run: () => [] },
    {
      name: 'HISTORY',
      syntax: 'event',
      does: 'Spikes of an event',
      returns: 'an empty array',
      run: () => [],
    },
    { name: 'RESET', syntax: '[event [event ...]]', does: 'Forgets spikes', returns: '0', run: () => 0 },
    {
      name: 'DOCTOR',
      syntax: '',
      does: 'Advice',
      returns: 'a line of text',
      run: () =>
        new Verbatim('No latency spike is recorded: SLOWLOG GET and LATENCY HISTOGRAM have the durations.\n'),
    },
  ],
})

export const logCommands: readonly Command[] = [slowlog, latency]
