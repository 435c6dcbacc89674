// HTTP with 1,000 URLs per request against the redis client's SADD of 1,000 members to redis-server: three processes,
// the same URLs, alternating within one run. With URLSIEVE_FULL=1, on an idle machine, HTTP must be as fast as SADD.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { Agent, request as open } from 'node:http'
import { join } from 'node:path'
import { createClient } from 'redis'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { type RedisNode, startNode, whyNoRedis } from '../../test/redis/servers.ts'
import { builtLibrary } from '../../test/support/built.ts'
import { gate } from './gate.ts'

const PER_REQUEST = 1000
const FULL = process.env.URLSIEVE_FULL === '1'
const REQUESTS = FULL ? 1000 : 100
const LEAST = FULL ? 1 : 0.6
/** Rounds until all of the code is compiled, and rounds that count. */
const WARM = 3
const ROUNDS = 3

const SERVER = `
import { LocalRegistry } from './server/local-registry.js'
import { HTTP_LIMITS, openHttp } from './server/http/index.js'
import { serverInfo } from './server/info.js'
const registry = await LocalRegistry.open({ memoryBytes: 2 ** 30, mostSieves: 100 })
const { port } = await openHttp(registry, { host: '127.0.0.1', port: 0, limits: HTTP_LIMITS, server: serverInfo('0') })
process.stdout.write(port + '\\n')
`

let redis: RedisNode | undefined
let server: ChildProcess | undefined
const built = builtLibrary()
let port = 0

beforeAll(async () => {
  if (whyNoRedis) return
  redis = await startNode()
  const script = join(built, 'http-server.js')
  writeFileSync(script, SERVER)
  const child = spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'inherit'] })
  server = child
  port = await new Promise<number>((resolve, reject) => {
    child.stdout.once('data', (text: Buffer) => resolve(Number(text)))
    child.once('exit', (code) => reject(new Error(`the server ended with ${code}`)))
  })
})

afterAll(async () => {
  await redis?.kill()
  if (server?.exitCode === null && server.kill('SIGKILL')) await once(server, 'exit')
})

/** A round's lists: one URL in `newIn` is new in each round, the others were in the first. */
const pages = (round: number, newIn: number) =>
  Array.from({ length: REQUESTS }, (_, i) =>
    Array.from({ length: PER_REQUEST }, (_, j) => {
      const page = i * PER_REQUEST + j
      const article = page % newIn === 0 ? round * 1e9 + page : page
      return `https://www.example-${page % 997}.com/section/${page % 31}/article-${article}.html`
    }),
  )

const agent = new Agent({ keepAlive: true, maxSockets: 1 })

/** A whole request: the body is made and the answer read and parsed within the time. */
function ask(method: string, path: string, type: string, body: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': type, 'content-length': Buffer.byteLength(body) }
    const request = open({ host: '127.0.0.1', port, agent, method, path, headers }, (response) => {
      response.setEncoding('utf8')
      let text = ''
      response.on('data', (part: string) => {
        text += part
      })
      response.on('end', () => (response.statusCode! < 300 ? resolve(text) : reject(new Error(text))))
    })
    request.on('error', reject)
    request.end(body)
  })
}

describe.skipIf(whyNoRedis)(`HTTP against SADD${whyNoRedis ? ` (skipped: ${whyNoRedis})` : ''}`, () => {
  afterAll(() => agent.destroy())

  const mixes = [
    { what: 'all new', newIn: 1 },
    { what: 'nine in ten seen before', newIn: 10 },
  ]
  for (const { what, newIn } of mixes)
    gate(
      `HTTP: at least ${LEAST} times as many URLs per second as SADD, ${what}`,
      {},
      async ({ measured }) => {
        const client = createClient({ url: redis!.url })
        await client.connect()
        let fresh = 0
        const ways = {
          SADD: (urls: string[]) => client.sAdd(`seen-${newIn}`, urls),
          JSON: async (urls: string[]) => {
            const body = JSON.stringify({ urls })
            fresh += JSON.parse(
              await ask('POST', `/v1/sieves/json-${newIn}/add`, 'application/json', body),
            ).new
          },
          lines: async (urls: string[]) =>
            (await ask('POST', `/v1/sieves/lines-${newIn}/add`, 'text/plain', urls.join('\n'))).split('\n'),
        }
        const names = ['SADD', 'JSON', 'lines'] as const
        const took: Record<(typeof names)[number], number[]> = { SADD: [], JSON: [], lines: [] }
        try {
          for (const name of ['json', 'lines'])
            await ask('PUT', `/v1/sieves/${name}-${newIn}`, 'application/json', '{"profile":"raw"}')
          for (let round = 0; round < WARM + ROUNDS; round++) {
            for (const [i, urls] of pages(round, newIn).entries()) {
              // Turn by turn, request by request: whatever else the machine does, it does it to all.
              for (const turn of names.keys()) {
                const way = names[(i + turn) % names.length]!
                const started = performance.now()
                await ways[way](urls)
                if (round >= WARM) took[way].push(performance.now() - started)
              }
            }
          }
          expect(fresh).toBe((REQUESTS * PER_REQUEST * (newIn - 1 + WARM + ROUNDS)) / newIn)
          expect(await client.sCard(`seen-${newIn}`)).toBe(fresh)
        } finally {
          client.destroy()
        }
        // Of the quarter that was disturbed least, the slowest: other processes take the processor at any time.
        const rate = (way: (typeof names)[number]) =>
          (PER_REQUEST * 1000) / took[way].sort((a, b) => a - b)[took[way].length >> 2]!
        const [sadd, json, lines] = [rate('SADD'), rate('JSON'), rate('lines')]
        const million = (rate: number) => `${(rate / 1e6).toFixed(2)} M/s`
        measured(
          `SADD ${million(sadd)}, JSON ${million(json)} (${(json / sadd).toFixed(2)} times), ` +
            `lines ${million(lines)} (${(lines / sadd).toFixed(2)} times)`,
        )
        expect(json / sadd).toBeGreaterThanOrEqual(LEAST)
        expect(lines / sadd).toBeGreaterThanOrEqual(LEAST)
      },
    )
})
