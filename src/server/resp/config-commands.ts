// CONFIG: settings that clients read, and the few that can be changed while the server runs.
import type { Call, Command } from './command.ts'
import { defineContainer } from './container.ts'
import { matcherOf } from './pattern.ts'
import { Failure, OK, type Reply, Table } from './replies.ts'

const MOST_LETTERS = 128

/** Slow commands kept at most: they take memory. */
const MOST_SLOW = 1024

interface Setting {
  get(call: Call): string
  /** Absent: a flag of `urlsieve serve` decides, so that no client can change the limits of the others. */
  readonly set?: (call: Call, value: number) => void
  readonly least?: number
  readonly most?: number
}

const SETTINGS: Readonly<Record<string, Setting>> = {
  save: { get: () => '' },
  appendonly: { get: ({ server }) => (server.isDurable ? 'yes' : 'no') },
  databases: { get: () => '1' },
  maxclients: { get: ({ server }) => String(server.limits.connections) },
  maxmemory: { get: ({ server }) => String(server.registry.limitBytes ?? 0) },
  'maxmemory-policy': { get: () => 'noeviction' },
  timeout: { get: ({ server }) => String(Math.floor(server.limits.idleMs / 1000)) },
  'proto-max-bulk-len': { get: ({ server }) => String(server.limits.itemBytes) },
  'slowlog-log-slower-than': {
    get: ({ server }) => String(server.statistics.slowerThanMicros),
    set: ({ server }, value) => {
      server.statistics.slowerThanMicros = value
    },
    least: -1,
    most: 2 ** 31 - 1,
  },
  'slowlog-max-len': {
    get: ({ server }) => String(server.statistics.mostSlow),
    set: ({ server: { statistics } }, value) => {
      statistics.mostSlow = value
      if (statistics.slow.length > value) statistics.slow.length = value
    },
    least: 0,
    most: MOST_SLOW,
  },
}

function get(call: Call): Reply {
  const patterns = Array.from({ length: call.count - 2 }, (_, i) => {
    const text = call
      .text(i + 2)
      .toLowerCase()
      .slice(0, MOST_LETTERS)
    return matcherOf(Buffer.from(text))
  })
  const names = Object.keys(SETTINGS).filter((name) => patterns.some((isMatch) => isMatch(Buffer.from(name))))
  return new Table(names.map((name) => [name, SETTINGS[name]!.get(call)]))
}

// All of them, or none.
function set(call: Call): Reply {
  if (call.count % 2 !== 0) return new Failure("ERR wrong number of arguments for 'config|set' command")
  const changes: (() => void)[] = []
  for (let i = 2; i < call.count; i += 2) {
    const name = call.text(i).toLowerCase().slice(0, MOST_LETTERS)
    const setting = Object.hasOwn(SETTINGS, name) ? SETTINGS[name] : undefined
    if (!setting?.set) {
      return new Failure(
        `ERR CONFIG SET is not possible for '${name}': the server's flags decide (urlsieve serve --help)`,
      )
    }
    const text = call.text(i + 1)
    const value = /^-?\d{1,10}$/.test(text) ? Number(text) : Number.NaN
    const { least, most } = setting
    if (!(value >= least! && value <= most!)) {
      const range = `argument must be between ${least} and ${most} inclusive`
      return new Failure(`ERR CONFIG SET failed (possibly related to argument '${name}') - ${range}`)
    }
    changes.push(() => setting.set!(call, value))
  }
  for (const change of changes) change()
  return OK
}

const config = defineContainer({
  name: 'CONFIG',
  does: 'Settings',
  group: 'server',
  flags: ['admin'],
  needsNoDatabase: true,
  isSecret: (call, i) =>
    call.word(1) === 'SET' &&
    i > 2 &&
    i % 2 === 1 &&
    !Object.hasOwn(SETTINGS, call.text(i - 1).toLowerCase()),
  subcommands: [
    {
      name: 'GET',
      syntax: 'pattern [pattern ...]',
      does: 'The settings whose names match',
      returns: 'names and values',
      run: get,
    },
    {
      name: 'SET',
      syntax: 'parameter value [parameter value ...]',
      does: `Changes ${Object.keys(SETTINGS)
        .filter((name) => SETTINGS[name]!.set)
        .join(', ')} until the server stops`,
      returns: 'OK',
      run: set,
    },
    {
      name: 'RESETSTAT',
      syntax: '',
      does: 'Sets the counts of INFO to zero',
      returns: 'OK',
      run({ server: { statistics, info } }) {
        statistics.reset()
        info.answered.resp = 0
        info.errors.resp = 0
        info.refused = 0
        return OK
      },
    },
  ],
})

export const configCommands: readonly Command[] = [config]
