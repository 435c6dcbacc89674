// Commands about the server itself: COMMAND, INFO, CONFIG GET.
import { faultLine } from '../faults.ts'
import type { SieveRegistry } from '../registry.ts'
import { REDIS_VERSION, subcommand } from './client-commands.ts'
import { type Call, type Command, type PlainCommand, wrongArity } from './command.ts'
import { matcherOf } from './pattern.ts'
import { Failure, type Reply, Simple, Table } from './replies.ts'

/** `all` is called when a command runs: these commands are among its result. */
export function serverCommands(all: () => ReadonlyMap<string, Command>): readonly Command[] {
  const describe = ({ name, arity, flags = [], key = 0 }: Command): Reply => [
    name.toLowerCase(),
    arity,
    flags.map((flag) => new Simple(flag)),
    key,
    key,
    key,
  ]
  const document = ({ name, does }: Command): [string, Reply] => [
    name.toLowerCase(),
    new Table([
      ['summary', does],
      ['since', '1.0.0'],
      ['group', name.includes('.') ? name.slice(0, name.indexOf('.')).toLowerCase() : 'server'],
    ]),
  ]
  const namedCommands = (call: Call) =>
    Array.from({ length: call.count - 2 }, (_, i) => all().get(call.word(i + 2)))
  const COMMAND: Readonly<Record<string, (call: Call) => Reply>> = {
    COUNT: () => all().size,
    DOCS(call) {
      const requested =
        call.count > 2 ? namedCommands(call).filter((one) => one !== undefined) : [...all().values()]
      return new Table(requested.map(document))
    },
    INFO(call) {
      const requested = call.count > 2 ? namedCommands(call) : [...all().values()]
      return requested.map((one) => (one ? describe(one) : null))
    },
    LIST: () => Array.from(all().keys(), (name) => name.toLowerCase()),
  }
  const command: PlainCommand = {
    name: 'COMMAND',
    arity: -1,
    needsNoDatabase: true,
    does: 'Describes the commands: COUNT, DOCS, INFO, LIST',
    run: (call) => (call.count === 1 ? Array.from(all().values(), describe) : subcommand(call, COMMAND)),
  }
  return [command, info, config]
}

const info: PlainCommand = {
  name: 'INFO',
  arity: -1,
  needsNoDatabase: true,
  does: 'Version, uptime, connections, memory and sieves, as text',
  run(call) {
    const { info, registry, clients, isDurable } = call.server
    const seconds = Math.floor((Date.now() - info.startedAt.getTime()) / 1000)
    const sections: Record<string, Record<string, string | number>> = {
      Server: {
        redis_version: REDIS_VERSION,
        redis_mode: 'standalone',
        urlsieve_version: info.version,
        process_id: process.pid,
        uptime_in_seconds: seconds,
      },
      Clients: { connected_clients: clients.size, http_connections: info.connections.http },
      Memory: {
        used_memory: process.memoryUsage.rss(),
        sieves_memory: Math.ceil(registry.sizeBytes),
        maxmemory: registry.limitBytes ?? 0,
      },
      Persistence: { loading: Number(registry.isLoading ?? false), aof_enabled: Number(isDurable) },
      Stats: {
        total_commands_processed: info.answered.resp,
        total_error_replies: info.errors.resp,
        rejected_connections: info.refused,
      },
      Faults: faultRows(registry),
      Replication: { role: 'master', connected_slaves: 0 },
      Cluster: { cluster_enabled: 0 },
      Keyspace:
        registry.list().length > 0 ? { db0: `keys=${registry.list().length},expires=0,avg_ttl=0` } : {},
    }
    const requested = Array.from({ length: call.count - 1 }, (_, i) => call.word(i + 1))
    const isAll =
      requested.length === 0 || requested.some((word) => ['ALL', 'DEFAULT', 'EVERYTHING'].includes(word))
    return Object.entries(sections)
      .filter(([section]) => isAll || requested.includes(section.toUpperCase()))
      .map(([section, rows]) => {
        const lines = Object.entries(rows).map(([name, value]) => `${name}:${value}\r\n`)
        return `# ${section}\r\n${lines.join('')}`
      })
      .join('\r\n')
  },
}

/** `faults:1`, then `fault0:disk "a" since …: …` and so on. */
function faultRows({ faults }: SieveRegistry): Record<string, string | number> {
  const all = faults.list()
  return { faults: all.length, ...Object.fromEntries(all.map((fault, i) => [`fault${i}`, faultLine(fault)])) }
}

const CONFIG: Readonly<Record<string, (call: Call) => Reply>> = {
  GET(call) {
    if (call.count < 3) return wrongArity('CONFIG|GET')
    const { limits, registry, isDurable } = call.server
    const settings: Record<string, string> = {
      save: '',
      appendonly: isDurable ? 'yes' : 'no',
      databases: '1',
      maxclients: String(limits.connections),
      maxmemory: String(registry.limitBytes ?? 0),
      timeout: String(Math.floor(limits.idleMs / 1000)),
      'proto-max-bulk-len': String(limits.itemBytes),
    }
    const patterns = Array.from({ length: call.count - 2 }, (_, i) =>
      matcherOf(
        Buffer.from(
          call
            .text(i + 2)
            .toLowerCase()
            .slice(0, 128),
        ),
      ),
    )
    const isRequested = (name: string) => patterns.some((isMatch) => isMatch(Buffer.from(name)))
    return new Table(Object.entries(settings).filter(([name]) => isRequested(name)))
  },
  SET: () => new Failure("ERR CONFIG SET is not possible: the server's flags decide (urlsieve serve --help)"),
}

const config: PlainCommand = {
  name: 'CONFIG',
  arity: -2,
  needsNoDatabase: true,
  does: 'GET: settings that clients read',
  flags: ['admin'],
  run: (call) => subcommand(call, CONFIG),
}
