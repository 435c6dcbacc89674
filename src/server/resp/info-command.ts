// INFO: the state of the server as text, with the fields that redis-cli --stat, RedisInsight and exporters read.
import { faultLine } from '../faults.ts'
import type { SieveRegistry } from '../registry.ts'
import { type Call, type Command, definePlain } from './command.ts'
import { Verbatim } from './replies.ts'
import type { CommandUse } from './statistics.ts'

type Rows = Readonly<Record<string, string | number>>

const formatMicros = (micros: number, calls: number) => (calls === 0 ? 0 : micros / calls).toFixed(2)

/** `1234` → `1.21K`, as Redis shows sizes. */
function human(bytes: number): string {
  const units = ['B', 'K', 'M', 'G', 'T']
  let value = bytes
  let unit = 0
  for (; value >= 1024 && unit < units.length - 1; unit++) value /= 1024
  return unit === 0 ? `${bytes}B` : `${value.toFixed(2)}${units[unit]}`
}

function server({ server: { info, dialect, port } }: Call): Rows {
  const seconds = Math.floor((Date.now() - info.startedAt.getTime()) / 1000)
  return {
    redis_version: dialect.redisVersion,
    ...(dialect.name === 'valkey' && { server_name: 'valkey', valkey_version: dialect.serverVersion }),
    redis_git_sha1: '00000000',
    redis_git_dirty: 0,
    redis_build_id: 0,
    redis_mode: 'standalone',
    urlsieve_version: info.version,
    os: `${process.platform} ${process.arch}`,
    arch_bits: 64,
    process_id: process.pid,
    run_id: info.runId,
    tcp_port: port,
    server_time_usec: Date.now() * 1000,
    uptime_in_seconds: seconds,
    uptime_in_days: Math.floor(seconds / 86_400),
    executable: 'urlsieve',
    config_file: '',
  }
}

function clients({ server: { clients: all, limits, info } }: Call): Rows {
  return {
    connected_clients: all.size,
    cluster_connections: 0,
    maxclients: limits.connections,
    client_recent_max_input_buffer: 0,
    client_recent_max_output_buffer: 0,
    blocked_clients: 0,
    tracking_clients: 0,
    clients_in_timeout_table: 0,
    http_connections: info.connections.http,
    unread_bytes: info.unread.bytes,
  }
}

function memory({ server: { registry } }: Call): Rows {
  const { rss, heapUsed, heapTotal, external } = process.memoryUsage()
  const used = rss
  const sieves = Math.ceil(registry.sizeBytes)
  const most = registry.limitBytes ?? 0
  return {
    used_memory: used,
    used_memory_human: human(used),
    used_memory_rss: rss,
    used_memory_rss_human: human(rss),
    used_memory_peak: Math.max(rss, process.resourceUsage().maxRSS * 1024),
    used_memory_overhead: heapUsed,
    used_memory_dataset: sieves,
    used_memory_lua: 0,
    allocator_allocated: heapUsed + external,
    allocator_resident: heapTotal + external,
    total_system_memory: 0,
    maxmemory: most,
    maxmemory_human: human(most),
    maxmemory_policy: 'noeviction',
    mem_fragmentation_ratio: 1,
    mem_allocator: 'v8',
    sieves_memory: sieves,
  }
}

function persistence({ server: { registry, isDurable } }: Call): Rows {
  return {
    loading: Number(registry.isLoading ?? false),
    async_loading: 0,
    rdb_changes_since_last_save: 0,
    rdb_bgsave_in_progress: 0,
    rdb_last_save_time: 0,
    rdb_last_bgsave_status: 'ok',
    aof_enabled: Number(isDurable),
    aof_rewrite_in_progress: 0,
    aof_last_write_status: registry.faults.isReady ? 'ok' : 'err',
  }
}

function stats({ server: { info, registry, statistics } }: Call): Rows {
  return {
    total_connections_received: statistics.connections,
    total_commands_processed: info.answered.resp,
    instantaneous_ops_per_sec: statistics.rate(info.answered.resp),
    total_net_input_bytes: statistics.receivedBytes,
    total_net_output_bytes: statistics.sentBytes,
    rejected_connections: info.refused,
    expired_keys: registry.expired ?? 0,
    evicted_keys: 0,
    evicted_clients: info.unread.ended,
    keyspace_hits: statistics.hits,
    keyspace_misses: statistics.misses,
    pubsub_channels: 0,
    pubsub_patterns: 0,
    latest_fork_usec: 0,
    total_error_replies: info.errors.resp,
    kept_answers: info.repeated.count,
    kept_answers_bytes: info.repeated.sizeBytes,
    repeated_calls: info.repeated.repeated,
    refused_calls: info.repeated.refused,
  }
}

function commandstats({ server: { statistics } }: Call): Rows {
  const row = ({ calls, micros, rejected, failed }: CommandUse) =>
    `calls=${calls},usec=${Math.round(micros)},usec_per_call=${formatMicros(micros, calls)},rejected_calls=${rejected},failed_calls=${failed}`
  return Object.fromEntries(
    Array.from(statistics.uses(), ([name, use]) => [`cmdstat_${name.toLowerCase()}`, row(use)]),
  )
}

function keyspace({ server: { registry } }: Call): Rows {
  const all = registry.list()
  if (all.length === 0) return {}
  const times = all.flatMap(({ expiresAt }) => (expiresAt === undefined ? [] : [expiresAt - Date.now()]))
  const average = times.length === 0 ? 0 : times.reduce((sum, one) => sum + one, 0) / times.length
  return {
    db0: `keys=${all.length},expires=${times.length},avg_ttl=${Math.max(0, Math.round(average))}`,
  }
}

/** `faults:1`, then `fault0:disk "a" since …: …` and so on. */
function faultRows({ faults }: SieveRegistry): Rows {
  const all = faults.list()
  return { faults: all.length, ...Object.fromEntries(all.map((fault, i) => [`fault${i}`, faultLine(fault)])) }
}

const CPU = (): Rows => {
  const { user, system } = process.cpuUsage()
  return { used_cpu_sys: (system / 1e6).toFixed(6), used_cpu_user: (user / 1e6).toFixed(6) }
}

/** Each section with its rows; those that INFO reports only when they are named have `isExtra`. */
const SECTIONS: readonly { name: string; rows(call: Call): Rows; isExtra?: boolean }[] = [
  { name: 'Server', rows: server },
  { name: 'Clients', rows: clients },
  { name: 'Memory', rows: memory },
  { name: 'Persistence', rows: persistence },
  { name: 'Stats', rows: stats },
  { name: 'Faults', rows: (call) => faultRows(call.server.registry) },
  { name: 'Replication', rows: () => ({ role: 'master', connected_slaves: 0, master_repl_offset: 0 }) },
  { name: 'CPU', rows: CPU },
  { name: 'Modules', rows: (call) => ({ module: `name=bf,ver=${call.server.dialect.moduleVersion},api=1` }) },
  { name: 'Commandstats', rows: commandstats, isExtra: true },
  { name: 'Cluster', rows: () => ({ cluster_enabled: 0 }) },
  { name: 'Keyspace', rows: keyspace },
]

const info = definePlain({
  name: 'INFO',
  syntax: '[section [section ...]]',
  does: 'Version, connections, memory, counts and sieves, as text',
  returns: 'sections of lines name:value',
  group: 'server',
  needsNoDatabase: true,
  run(call) {
    const words = new Set(Array.from({ length: call.count - 1 }, (_, i) => call.word(i + 1)))
    const isDefault = words.size === 0 || words.has('DEFAULT')
    const isAll = words.has('ALL') || words.has('EVERYTHING')
    const sections = SECTIONS.filter(
      ({ name, isExtra = false }) => isAll || (isDefault && !isExtra) || words.has(name.toUpperCase()),
    )
    const texts = sections.map(({ name, rows }) => {
      const lines = Object.entries(rows(call)).map(([field, value]) => `${field}:${value}\r\n`)
      return `# ${name}\r\n${lines.join('')}`
    })
    return new Verbatim(texts.join('\r\n'))
  },
})

export const infoCommands: readonly Command[] = [info]
