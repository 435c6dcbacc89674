// How long other clients wait while one command runs: for each command the longest PING and the longest /healthz, the
// median of several runs. A table of it goes to the console.
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, rmSync } from 'node:fs'
import { loadavg } from 'node:os'
import { fileURLToPath } from 'node:url'
import { type Ask, asks, Crowd, LARGE, setup } from './crowds.ts'
import { started } from './process.ts'
import { folder } from './serving.ts'

const turnTime = new URL('turn-time.mjs', import.meta.url).href
const watcher = fileURLToPath(new URL('waits.mjs', import.meta.url))

export interface Waits {
  readonly what: string
  /** How long the command itself took. */
  readonly ms: number
  readonly pingMs: number
  readonly healthMs: number
}

export interface Measured {
  readonly capacity: number
  readonly errorRate: number
  readonly runs: number
}

const median = (values: number[]) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)]!

/** Medians of the worst of each run. */
export async function measureWaits({ capacity, errorRate, runs }: Measured): Promise<Waits[]> {
  const all: Waits[][] = []
  for (let run = 0; run < runs; run++) all.push(await measureOnce(capacity, errorRate))
  const rows = all[0]!.map(({ what }, i) => {
    const of = (pick: (waits: Waits) => number) => median(all.map((one) => pick(one[i]!)))
    return { what, ms: of((w) => w.ms), pingMs: of((w) => w.pingMs), healthMs: of((w) => w.healthMs) }
  })
  const shown = (ms: number) => ms.toFixed(1).padStart(10)
  console.log(
    [
      `capacity ${capacity}, rate ${errorRate}, median of ${runs} runs, load ${loadavg()[0]!.toFixed(1)}`,
      `${'command'.padEnd(32)}${'took ms'.padStart(10)}${'PING ms'.padStart(10)}${'/healthz'.padStart(10)}`,
      ...rows.map((w) => `${w.what.padEnd(32)}${shown(w.ms)}${shown(w.pingMs)}${shown(w.healthMs)}`),
    ].join('\n'),
  )
  return rows
}

/** Starts the client that asks for nothing but PING and /healthz. Returns how long it waited while something was done. */
async function watching(port: number, httpPort: number) {
  const child: ChildProcess = fork(watcher, [String(port), String(httpPort)])
  await once(child, 'message')
  return {
    async during(act: () => Promise<unknown>): Promise<{ ms: number; pingMs: number; healthMs: number }> {
      child.send('begin')
      const begun = performance.now()
      await act()
      const ms = performance.now() - begun
      child.send('end')
      const [longest] = (await once(child, 'message')) as [{ pingMs: number; healthMs: number }]
      return { ms, ...longest }
    },
    end: () => child.disconnect(),
  }
}

export interface CrowdWaits extends Waits {
  /** Processor time of the server's longest turn of the event loop. */
  readonly turnMs: number
  /** Resident memory of the server, at most, in MB. */
  readonly memoryMb: number
}

export interface CrowdSizes {
  /** Connections of a crowd. */
  readonly clients: readonly number[]
  /** URLs that the large sieves are made for, and the number of the others. */
  readonly scale: number
  readonly sieves: number
  /** `--memory`. */
  readonly memory: string
  readonly only?: RegExp
  /** Whether they read; by default both. */
  readonly isRead?: readonly boolean[]
  readonly onRow?: (row: CrowdWaits) => void
}

/** How long unread replies are left, and how long a crowd may take for all of its own. */
const UNREAD_MS = 1000
const MOST_MS = 20_000

/** Each ask by each number of connections, its replies read or not: the worst waits, and the memory. */
export async function measureCrowds({
  clients,
  scale,
  sieves,
  memory,
  only = /./,
  isRead: reads = [true, false],
  onRow = () => {},
}: CrowdSizes): Promise<CrowdWaits[]> {
  const server = await started(['--memory', memory], { NODE_OPTIONS: `--import=${turnTime}` })
  let turnsTold = 0
  const turnTimes = () => server.output().match(/(?<="turnMs":)[\d.]+/g) ?? []
  const longestTurn = async () => {
    server.child.kill('SIGUSR2')
    turnsTold++
    while (turnTimes().length < turnsTold) await new Promise((resolve) => setTimeout(resolve, 5))
    return Number(turnTimes().at(-1))
  }
  const ports = { port: server.port, httpPort: server.httpPort! }
  const maker = await server.connect()
  for (const words of setup(scale, sieves)) await maker.ask(...words)
  const watch = await watching(ports.port, ports.httpPort)
  const residentMb = () =>
    Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.child.pid}/status`, 'utf8'))?.[1] ?? 0) / 1024
  const rows: CrowdWaits[] = []
  const measure = async (ask: Ask, count: number, isRead: boolean) => {
    const crowd = await Crowd.open(ports, ask.way, count)
    await longestTurn()
    let memoryMb = residentMb()
    const timer = setInterval(() => {
      memoryMb = Math.max(memoryMb, residentMb())
    }, 10)
    const waits = await watch.during(async () => {
      const answered = crowd.send(ask, LARGE, isRead)
      const given = new Promise((resolve) => setTimeout(resolve, isRead ? MOST_MS : UNREAD_MS).unref())
      await (isRead ? Promise.race([answered, given]) : given)
    })
    clearInterval(timer)
    const turnMs = await longestTurn()
    crowd.close()
    await maker.ask('PING')
    rows.push({
      what: `${ask.what}, ${count} clients${isRead ? '' : ', unread'}`,
      ...waits,
      turnMs,
      memoryMb,
    })
    onRow(rows.at(-1)!)
  }
  for (const ask of asks.filter(({ what }) => only.test(what))) {
    for (const count of clients) for (const isRead of reads) await measure(ask, count, isRead)
  }
  watch.end()
  maker.close()
  server.child.kill('SIGTERM')
  await server.ended()
  return rows
}

/** Medians of the worst of each run; of the memory the most of all. */
export function medians(runs: readonly CrowdWaits[][]): CrowdWaits[] {
  return runs[0]!.map(({ what }, i) => {
    const of = (pick: (waits: CrowdWaits) => number) => runs.map((rows) => pick(rows[i]!))
    return {
      what,
      ms: median(of(({ ms }) => ms)),
      pingMs: median(of(({ pingMs }) => pingMs)),
      healthMs: median(of(({ healthMs }) => healthMs)),
      turnMs: median(of(({ turnMs }) => turnMs)),
      memoryMb: Math.max(...of(({ memoryMb }) => memoryMb)),
    }
  })
}

export function crowdTable(rows: readonly CrowdWaits[]): string {
  const shown = (value: number) => value.toFixed(1).padStart(10)
  return [
    `load ${loadavg()[0]!.toFixed(1)}`,
    `${'asked'.padEnd(56)}${'took ms'.padStart(10)}${'PING ms'.padStart(10)}${'/healthz'.padStart(10)}${'turn ms'.padStart(10)}${'RSS MB'.padStart(10)}`,
    ...rows.map(
      (w) =>
        `${w.what.padEnd(56)}${shown(w.ms)}${shown(w.pingMs)}${shown(w.healthMs)}${shown(w.turnMs)}${shown(w.memoryMb)}`,
    ),
  ].join('\n')
}

async function measureOnce(capacity: number, errorRate: number): Promise<Waits[]> {
  const data = folder()
  const server = await started(['--data', data, '--memory', '8G', '--allow-flush'])
  const client = await server.connect()
  const child = fork(watcher, [String(server.port), String(server.httpPort)])
  await once(child, 'message')
  const rows: Waits[] = []
  const measure = async <T>(what: string, act: () => Promise<T>): Promise<T> => {
    child.send('begin')
    const begun = performance.now()
    const result = await act()
    const ms = performance.now() - begun
    child.send('end')
    const [longest] = (await once(child, 'message')) as [{ pingMs: number; healthMs: number }]
    rows.push({ what, ms, ...longest })
    return result
  }
  const post = (path: string, body: string, type = 'application/json') =>
    fetch(`http://127.0.0.1:${server.httpPort}${path}`, {
      method: 'POST',
      headers: { 'content-type': type },
      body,
    }).then((response) => response.text())
  const get = (path: string) => fetch(`http://127.0.0.1:${server.httpPort}${path}`).then((r) => r.text())
  const list = (from: number, count: number) =>
    Array.from({ length: count }, (_, i) => `https://example.com/some/page/${from + i}`)
  // A command of very many words: too many to be arguments of a function.
  const askMany = async (...parts: readonly (string | readonly string[])[]) => {
    const words = parts.flat()
    const texts = words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`)
    client.write(`*${words.length}\r\n${texts.join('')}`)
    return client.read()
  }
  const expectOk = (answer: unknown) => {
    if (answer !== 'OK') throw new Error(`expected OK, got ${JSON.stringify(answer)}`)
  }
  const dumpTo = async (name: string, first: [number, string]) => {
    let [next, chunk] = first
    while (next !== 0) {
      expectOk(await client.ask('BF.LOADCHUNK', name, String(next), Buffer.from(chunk, 'latin1')))
      ;[next, chunk] = (await client.ask('BF.SCANDUMP', 'a', String(next))) as [number, string]
    }
  }
  await measure('nothing', () => new Promise((resolve) => setTimeout(resolve, 500)))
  await measure('BF.RESERVE', async () =>
    expectOk(await client.ask('BF.RESERVE', 'a', String(errorRate), String(capacity))),
  )
  await measure('BF.MADD of 90,000', () => askMany('BF.MADD', 'a', list(0, 90_000)))
  await measure('BF.MADD, 3 M items', async () => {
    for (let from = 0; from < 3e6; from += 30_000) await askMany('BF.MADD', 'a', list(from, 30_000))
  })
  await measure('SIEVE.SAVE', async () => expectOk(await client.ask('SIEVE.SAVE', 'a')))
  await measure('BF.INFO', () => client.ask('BF.INFO', 'a'))
  await measure('SIEVE.STATS', () => client.ask('SIEVE.STATS', 'a'))
  await measure('/metrics', () => get('/metrics'))
  const first = (await measure('BF.SCANDUMP 0', () => client.ask('BF.SCANDUMP', 'a', '0'))) as [
    number,
    string,
  ]
  await measure('BF.SCANDUMP, BF.LOADCHUNK', () => dumpTo('b', first))
  await measure('DEL of the loaded one', () => client.ask('DEL', 'b'))
  await measure('DEL', () => client.ask('DEL', 'a'))
  await measure('after DEL', () => new Promise((resolve) => setTimeout(resolve, 1000)))
  expectOk(await client.ask('SIEVE.CREATE', 'odd', 'PROFILE', 'aggressive'))
  const odd = list(0, 90_000).map((url) => `${url}/ä?b=2&a=1`)
  await measure('SIEVE.ADD of 90,000, aggressive', () => askMany('SIEVE.ADD', 'odd', odd))
  await measure('SIEVE.FORGET of 90,000', () => askMany('SIEVE.FORGET', 'odd', odd))
  const body = JSON.stringify({ urls: list(0, 90_000) })
  await measure('POST of 90,000 as JSON', () => post('/v1/sieves/odd/add', body))
  const escaped = body.replaceAll('/', '\\/')
  await measure('POST of 90,000, escaped', () => post('/v1/sieves/odd/add', escaped))
  await measure('POST of 500,000 lines', () =>
    post('/v1/sieves/odd/add', list(0, 500_000).join('\n'), 'text/plain'),
  )
  for (let i = 0; i < 900; i++) expectOk(await client.ask('SIEVE.CREATE', `n${i}`))
  await measure('SCAN of 900 sieves', () => client.ask('SCAN', '0', 'COUNT', '10000'))
  await measure('/metrics of 900 sieves', () => get('/metrics'))
  await measure('/v1/sieves of 900', () => get('/v1/sieves'))
  await measure('INFO', () => client.ask('INFO'))
  await measure('KEYS of 900', () => client.ask('KEYS', '*9*'))
  await measure('SADD of 90,000', () => askMany('SADD', 'set', list(0, 90_000)))
  await measure('RENAME', async () => expectOk(await client.ask('RENAME', 'set', 'renamed')))
  await measure('SREM of 90,000', () => askMany('SREM', 'renamed', list(0, 90_000)))
  await measure('BF.INSERT of 90,000', () => askMany('BF.INSERT', 'inserted', 'ITEMS', list(0, 90_000)))
  await client.ask('MULTI')
  await measure('MULTI, SADD of 90,000', () => askMany('SADD', 'set', list(0, 90_000)))
  await measure('EXEC', () => client.ask('EXEC'))
  await measure('DEL of 90,000 names', () => askMany('DEL', list(0, 90_000)))
  await client.ask('BF.RESERVE', 'a', String(errorRate), String(capacity))
  await measure('FLUSHALL of 900 and a large one', async () => expectOk(await client.ask('FLUSHALL')))
  await measure('after FLUSHALL', () => new Promise((resolve) => setTimeout(resolve, 1000)))
  child.disconnect()
  client.close()
  server.child.kill('SIGTERM')
  await server.ended()
  rmSync(data, { recursive: true, force: true })
  return rows
}
