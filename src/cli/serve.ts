// `urlsieve serve`: sieves for many clients, over the Redis protocol and HTTP.
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { type Command, Option } from 'commander'
import type { Durability } from '../index.ts'
import { formatBytes, formatCounted } from '../quantities.ts'
import { hostsOf } from '../redis/address.ts'
import { isLoopback } from '../server/http/guard.ts'
import { type Log, logTo } from '../server/log.ts'
import { type DialectName, dialectNames } from '../server/resp/dialect.ts'
import type { Serving } from '../server/serve.ts'
import { MiB, readWhole } from '../store/whole-file.ts'
import { CommandError, EXIT, reason } from './exit.ts'
import { Output } from './output.ts'
import { connectionOf, type RedisFlags, withRedisOptions } from './redis-options.ts'
import { httpLimitsOf, type LimitFlags, respLimitsOf, withLimits } from './serve-limits.ts'
import { withSettings } from './settings.ts'

const PASSWORD = 'URLSIEVE_PASSWORD'

interface Flags extends LimitFlags, RedisFlags {
  host: string
  port: number
  http: number | false
  data?: string
  redis?: string
  password?: string
  passwordFile?: string
  durability: Durability
  dialect: DialectName
  allowFlush?: boolean
  shapes?: boolean
  report?: string
  json?: boolean
}

function portOf(option: string): (text: string) => number {
  return (text) => {
    const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN
    if (port <= 65_535) return port
    throw new CommandError(
      EXIT.usage,
      `${option} '${text}': expected a port from 0 to 65535, 0 for any that is free`,
    )
  }
}

export function serveCommand(program: Command): void {
  const port = (name: string, does: string, value: number) =>
    new Option(`${name} <port>`, does).argParser(portOf(name)).default(value)
  const command = program
    .command('serve')
    .summary('serve sieves to many clients: Redis protocol and HTTP')
    .description(
      'Serves sieves by name over the Redis protocol (BF.* as RedisBloom has them, SIEVE.* of our own) and HTTP. ' +
        'Listens on this machine only unless --host is given, and then needs a password.',
    )
    .addOption(port('--port', 'of the Redis protocol', 6390))
    .addOption(port('--http', 'of HTTP, with metrics and a page', 8390))
    .option('--no-http', 'no HTTP')
    .option('--host <address>', 'where to listen', '127.0.0.1')
    .option('--data <folder>', 'keep the sieves here, across restarts; in memory without it')
    .option('--redis <url>', 'keep the sieves on Redis or a cluster instead, shared with other servers')
    .option(
      '--password <word>',
      `what clients must send; better given as ${PASSWORD}, which no process list shows`,
    )
    .option('--password-file <file>', 'a file whose first line is the password')
    .addOption(
      new Option('--durability <way>', 'with --data: when what was acknowledged is safe')
        .choices(['always', 'interval', 'never'])
        .default('interval'),
    )
    .addOption(
      new Option('--dialect <name>', 'replies and error texts of BF.*: RedisBloom or valkey-bloom')
        .choices(dialectNames)
        .default('redis'),
    )
    .option('--allow-flush', 'execute FLUSHALL and FLUSHDB also with --data or --redis')
    .option('--shapes', 'collect the shapes of URLs added recently, for the page; not with --redis')
    .option('--report <folder>', "show this report of 'urlsieve lab' on the page")
    .option('--json', 'log as JSON, one object per line')
  withSettings(withLimits(withRedisOptions(command)))
    .addHelpText(
      'after',
      `
Examples:
  urlsieve serve --data sieves
  redis-cli -p 6390 BF.ADD seen https://example.com/
  ${PASSWORD}=… urlsieve serve --host 0.0.0.0 --data /var/lib/urlsieve --json
  URLSIEVE_DATA=sieves URLSIEVE_MEMORY=2G urlsieve serve --config serve.json`,
    )
    .action(run)
}

async function run(flags: Flags): Promise<void> {
  const password = passwordOf(flags)
  if (password === '')
    throw new CommandError(EXIT.usage, 'the password is empty: expected one, or leave it out')
  if (!isLoopback(flags.host) && password === undefined) {
    throw new CommandError(
      EXIT.usage,
      `--host ${flags.host} is beyond this machine and there is no password: give one as ${PASSWORD} or --password`,
    )
  }
  if (flags.data !== undefined && flags.redis !== undefined) {
    throw new CommandError(EXIT.usage, '--data with --redis: expected one of them')
  }
  if (flags.shapes && flags.redis !== undefined) {
    throw new CommandError(EXIT.usage, '--shapes with --redis: expected one of them')
  }
  process.umask(0o077) // what is remembered is for this user only
  const output = new Output()
  const log = logTo((line) => output.print(line), flags.json ?? false)
  const serving = await open(flags, password, log)
  tellStart(flags, serving, output, log)
  await stopped(log)
  await serving.close()
  log('info', 'stopped')
}

function passwordOf({ password, passwordFile }: Flags): string | undefined {
  if (passwordFile === undefined) return password ?? process.env[PASSWORD]
  if (password !== undefined) {
    throw new CommandError(EXIT.usage, '--password with --password-file: expected one of them')
  }
  try {
    return readWhole(passwordFile, MiB, { isStream: true }).toString().split(/\r?\n/, 1)[0]
  } catch (error) {
    throw new CommandError(EXIT.input, `${passwordFile}: ${reason(error)}`)
  }
}

async function open(flags: Flags, password: string | undefined, log: Log): Promise<Serving> {
  const { version } = createRequire(import.meta.url)('../../package.json') as { version: string }
  const site = fileURLToPath(new URL('../site', import.meta.url))
  const { serve } = await import('../server/serve.ts')
  try {
    return await serve({
      version,
      host: flags.host,
      port: flags.port,
      ...(flags.http !== false && { httpPort: flags.http }),
      ...(password !== undefined && { password }),
      ...(flags.data !== undefined && { data: flags.data }),
      ...(flags.redis !== undefined && { redis: { url: flags.redis, ...connectionOf(flags) } }),
      durability: flags.durability,
      memoryBytes: flags.memory,
      keptBytes: flags.maxKeptAnswers,
      mostSieves: flags.maxSieves,
      limits: respLimitsOf(flags),
      httpLimits: httpLimitsOf(flags),
      log,
      dialect: flags.dialect,
      allowFlush: flags.allowFlush ?? false,
      ...(existsSync(site) && { siteFolder: site }),
      shapes: flags.shapes ?? false,
      ...(flags.report !== undefined && { reportFolder: flags.report }),
    })
  } catch (error) {
    throw listenError(error) ?? error
  }
}

function listenError(error: unknown): CommandError | null {
  const { syscall, code, address, port } = error as NodeJS.ErrnoException & {
    address?: string
    port?: number
  }
  if (syscall !== 'listen' && syscall !== 'getaddrinfo') return null
  const words: Record<string, string> = {
    EADDRINUSE: 'the port is in use; choose another with --port or --http',
    EACCES: 'permission denied; ports below 1024 need more rights',
    EADDRNOTAVAIL: 'this machine has no such address; see --host',
    ENOTFOUND: 'no such host; see --host',
  }
  const why = words[code ?? ''] ?? reason(error)
  return new CommandError(EXIT.input, `cannot listen on ${address ?? 'that host'}:${port ?? ''}: ${why}`)
}

function tellStart(flags: Flags, { port, httpPort, sieves }: Serving, output: Output, log: Log): void {
  const place = flags.redis === undefined ? flags.data : hostsOf(flags.redis)
  if (flags.json) {
    const ports = { resp: port, ...(httpPort !== undefined && { http: httpPort }) }
    log('info', 'listening', {
      host: flags.host,
      ...ports,
      data: place ?? '',
      sieves,
      pid: process.pid,
    })
    return
  }
  const host = flags.host.includes(':') ? `[${flags.host}]` : flags.host
  const http = httpPort === undefined ? '' : ` and HTTP on http://${host}:${httpPort}/`
  const kept = place === undefined ? 'sieves in memory' : `${formatCounted(sieves, 'sieve')} in ${place}`
  const most = flags.redis === undefined ? `, at most ${formatBytes(flags.memory)}` : ''
  output.print(`urlsieve serves RESP on ${host}:${port}${http}; ${kept}${most}; pid ${process.pid}\n`)
}

/** Resolved when the process is signalled to end; a second signal ends it immediately. */
function stopped(log: Log): Promise<void> {
  return new Promise((resolve) => {
    let isAsked = false
    const onSignal = (signal: NodeJS.Signals) => {
      if (isAsked) process.exit(1)
      isAsked = true
      log('info', 'stopping', { signal })
      resolve()
    }
    process.on('SIGTERM', onSignal)
    process.on('SIGINT', onSignal)
  })
}
