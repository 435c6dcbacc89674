// The server against Debian's redis-server, both started here, in one run: BF.ADD and SADD under redis-benchmark -P 64,
// BF.MADD with 100 URLs each through redis-cli --pipe, and 256 concurrent connections. `node server.mjs --help`.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { buildDigest, builtFile, missingBuild, missingProgram, programVersion } from './programs.mjs'
import { ResultsFile } from './results.mjs'
import { prepareStream } from './streams.mjs'
import { figure, table, times } from './table.mjs'
import { generatorVersion } from './urls.mjs'

const help = `usage: node bench/server.mjs [options]
  --urls N       that each case takes (default 5000000)
  --rounds N     of each case, in alternating order (default 3)
  --seconds N    of 256 concurrent connections (default 5; 60 for the whole claim)
  --seed N       of the URLs (default 1)
  --data         our server with --data: what is answered is logged on the disk
  --quick        500,000 URLs, one round: does it work?
`

const item = 'https://www.example.com/path/of/a/page/__rand_int__.html'
const urlsPerCommand = 100
const connections = 256
const bounds = { 'BF.ADD -P 64': 2.3, 'BF.MADD × 100, --pipe': 10 }

/** `command`: as the user gave it, for the results. */
export async function benchServer(args, command) {
  const settings = settingsOf(args)
  if (settings.help) return void process.stdout.write(help)
  for (const name of ['redis-server', 'redis-benchmark', 'redis-cli']) {
    const why = missingProgram(name)
    if (why) throw new Error(`${why}: install Debian's redis-server and redis-tools`)
  }
  const unbuilt = missingBuild('cli/main.js')
  if (unbuilt) throw new Error(unbuilt)
  const folder = mkdtempSync(join(tmpdir(), 'urlsieve-bench-server-'))
  const servers = []
  try {
    const redis = await startRedis(folder)
    servers.push(redis)
    const ours = await startOurs(settings.data ? join(folder, 'data') : undefined)
    servers.push(ours)
    await measureAll({ ...settings, command }, { redis, ours, folder })
  } finally {
    for (const server of servers) server.stop()
    await Promise.all(servers.map((server) => server.ended))
    rmSync(folder, { recursive: true, force: true })
  }
}

async function measureAll(settings, { redis, ours, folder }) {
  const { command, urls, rounds, seconds, seed } = settings
  const facts = { command, lines: urls, seed, rounds, generatorVersion, build: buildDigest() }
  const results = new ResultsFile({ ...facts, redis: programVersion('redis-server') })
  const stream = encodeStream(join(folder, 'madd.resp'), urls, seed)
  const cases = [
    { name: 'SADD -P 64', run: () => benchmark(redis, ['SADD', 'bench', item], urls) },
    {
      name: 'BF.ADD -P 64',
      run: () => onFreshFilter(ours, () => benchmark(ours, ['BF.ADD', 'bench', item], urls)),
    },
    { name: 'BF.MADD × 100, --pipe', run: () => onFreshFilter(ours, () => piped(ours, stream, urls)) },
    { name: 'the same, nothing reserved', run: () => unreserved(ours, () => piped(ours, stream, urls)) },
  ]
  const rates = new Map(cases.map(({ name }) => [name, []]))
  for (let round = 1; round <= rounds; round++) {
    for (const { name, run } of round % 2 === 1 ? cases : cases.toReversed()) {
      await ask(redis, ['DEL', 'bench'])
      const perSecond = await run()
      rates.get(name).push(perSecond)
      results.write({ type: 'sample', case: `server/${name}`, round, perSecond })
      process.stderr.write(`round ${round}/${rounds}  ${name}  ${figure(perSecond / 1e6)} M/s\n`)
    }
  }
  const base = median(rates.get('SADD -P 64'))
  const rows = cases.map(({ name }) => {
    const all = rates.get(name)
    const ratio = median(all) / base
    const limit = bounds[name]
    const verdict = limit === undefined ? undefined : ratio >= limit ? 'pass' : 'FAIL'
    const spread = `${figure(Math.min(...all) / 1e6)}…${figure(Math.max(...all) / 1e6)}`
    return [
      name,
      figure(median(all) / 1e6),
      spread,
      times(ratio),
      limit === undefined ? undefined : `≥ ${limit}×`,
      verdict,
    ]
  })
  const crowd = await crowded(ours, seconds, median(rates.get('BF.ADD -P 64')))
  results.write({ type: 'sample', case: 'server/256 connections', round: 1, ...crowd })
  process.stdout.write(
    [
      command,
      table(['server', 'M URLs/s', 'min…max', '× SADD', 'bound', ''], rows),
      `${connections} connections, ${figure(crowd.seconds)} s: ${figure(crowd.perSecond / 1e6)} M/s, ` +
        `p50 ${crowd.p50} ms, p99 ${crowd.p99} ms, max ${crowd.max} ms, ${crowd.errors} errors; ` +
        `memory ${figure(crowd.rssBefore / 1e6)} MB before, ${figure(crowd.rssFirst / 1e6)} after a tenth, ${figure(crowd.rssLast / 1e6)} at the end`,
      results.file,
      '',
    ].join('\n'),
  )
}

function settingsOf(args) {
  const number = { type: 'string' }
  const { values } = parseArgs({
    args,
    options: {
      urls: number,
      rounds: number,
      seconds: number,
      seed: number,
      quick: { type: 'boolean', default: false },
      data: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  const count = (name, usual) => {
    const value = Number(values[name] ?? usual)
    if (Number.isInteger(value) && value > 0) return value
    throw new Error(`--${name} is a whole number over 0, got ${values[name]}`)
  }
  return {
    ...values,
    urls: count('urls', values.quick ? 500_000 : 5_000_000),
    rounds: count('rounds', values.quick ? 1 : 3),
    seconds: count('seconds', values.quick ? 2 : 5),
    seed: count('seed', 1),
  }
}

async function startRedis(folder) {
  const port = await freePort()
  const args = [
    '--port',
    String(port),
    '--bind',
    '127.0.0.1',
    '--save',
    '',
    '--appendonly',
    'no',
    '--dir',
    folder,
  ]
  return started(
    spawn('redis-server', args, { stdio: ['ignore', 'pipe', 'inherit'] }),
    /Ready to accept/,
    () => port,
  )
}

async function startOurs(data) {
  const args = [
    builtFile('cli/main.js'),
    'serve',
    '--port',
    '0',
    '--no-http',
    '--json',
    ...(data ? ['--data', data] : []),
  ]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  return started(child, /"listening"/, (text) => JSON.parse(text.split('\n', 1)[0]).resp)
}

async function started(child, ready, portOf) {
  const ended = once(child, 'exit')
  const text = await new Promise((resolve, reject) => {
    let said = ''
    child.stdout.on('data', (chunk) => {
      said += chunk
      if (ready.test(said)) resolve(said)
    })
    ended.then(() => reject(new Error(`a server did not start: ${said}`)))
  })
  return { pid: child.pid, port: portOf(text), ended, stop: () => child.kill('SIGTERM') }
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  server.close()
  return port
}

/** A program's output; throws when it fails or reports an error. */
async function output(program, args, input) {
  const child = spawn(program, args, { stdio: [input ?? 'ignore', 'pipe', 'pipe'] })
  let text = ''
  const take = (chunk) => {
    text += chunk
  }
  child.stdout.on('data', take)
  child.stderr.on('data', take)
  const [code] = await once(child, 'close')
  if (code !== 0 || /^(ERR|Error|OOM)/m.test(text))
    throw new Error(`${program} ${args.join(' ')}: ${text.slice(0, 500)}`)
  return text
}

const ask = ({ port }, words) => output('redis-cli', ['-p', String(port), ...words])

/** Requests per second, by redis-benchmark's own clock. */
async function benchmark({ port }, words, requests) {
  const args = ['-p', String(port), '-P', '64', '-n', String(requests), '-r', '1000000000', '--csv', ...words]
  return Number(csvOf(await output('redis-benchmark', args)).rps)
}

function csvOf(text) {
  const [titles, values] = text
    .trim()
    .split('\n')
    .filter((line) => line.startsWith('"'))
    .map((line) => line.slice(1, -1).split('","'))
  return Object.fromEntries(titles.map((title, i) => [title, values[i]]))
}

/** A filter for ten million at one in a thousand: two bytes per URL. */
async function onFreshFilter(server, act) {
  await unreserved(server, () => ask(server, ['BF.RESERVE', 'bench', '0.001', '10000000']))
  return act()
}

/** What the first add makes of a name that is not there. */
async function unreserved(server, act) {
  await ask(server, ['DEL', 'bench'])
  return act()
}

/** URLs per second, process start of redis-cli included. */
async function piped({ port }, file, urls) {
  const fd = openSync(file, 'r')
  const started = performance.now()
  const text = await output('redis-cli', ['-p', String(port), '--pipe'], fd)
  const seconds = (performance.now() - started) / 1000
  closeSync(fd)
  const replies = Math.ceil(urls / urlsPerCommand)
  if (!text.includes(`errors: 0, replies: ${replies}`)) throw new Error(`redis-cli --pipe: ${text}`)
  return urls / seconds
}

/** The lines of the stream `distinct` as commands. */
function encodeStream(file, urls, seed) {
  const onGenerate = (path) => process.stderr.write(`generating ${path}\n`)
  const lines = readFileSync(prepareStream('distinct', { lines: urls, seed, onGenerate }).file)
  const fd = openSync(file, 'w')
  let from = 0
  for (let done = 0; done < urls; done += urlsPerCommand) {
    const count = Math.min(urlsPerCommand, urls - done)
    const parts = [Buffer.from(`*${count + 2}\r\n$7\r\nBF.MADD\r\n$5\r\nbench\r\n`)]
    for (let i = 0; i < count; i++) {
      const end = lines.indexOf(10, from)
      parts.push(Buffer.from(`$${end - from}\r\n`), lines.subarray(from, end), Buffer.from('\r\n'))
      from = end + 1
    }
    writeSync(fd, Buffer.concat(parts))
  }
  closeSync(fd)
  return file
}

/** Many concurrent connections for about this long: speed, delays and memory. */
async function crowded(server, seconds, perSecond) {
  await onFreshFilter(server, () => {})
  const rss = () =>
    Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))[1]) * 1024
  const run = async (requests) => {
    const args = ['-p', String(server.port), '-c', String(connections), '-P', '16', '-n', String(requests)]
    const started = performance.now()
    const csv = csvOf(
      await output('redis-benchmark', [...args, '-r', '10000000', '--csv', 'BF.ADD', 'bench', item]),
    )
    return { csv, seconds: (performance.now() - started) / 1000 }
  }
  const rssBefore = rss()
  const first = await run(Math.ceil((perSecond * seconds) / 20))
  const rssFirst = rss()
  const rest = await run(Math.ceil(Number(first.csv.rps) * seconds))
  const { rps, p50_latency_ms: p50, p99_latency_ms: p99, max_latency_ms: max } = rest.csv
  // redis-benchmark ends at the first error reply, and output() throws: here there was none.
  return {
    seconds: rest.seconds,
    perSecond: Number(rps),
    p50,
    p99,
    max,
    errors: 0,
    rssBefore,
    rssFirst,
    rssLast: rss(),
  }
}

function median(values) {
  return values.toSorted((a, b) => a - b)[values.length >> 1]
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    const args = process.argv.slice(2)
    await benchServer(args, ['node bench/server.mjs', ...args].join(' '))
  } catch (error) {
    process.stderr.write(`bench: ${error.message}\n`)
    process.exitCode = 1
  }
}
