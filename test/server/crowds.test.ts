// What each command and route is asked for by many connections at once. Here the work of one turn of the event loop is counted,
// by a clock that goes on by a millisecond at each look at it; fairness.test.ts measures how long others wait.
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { HTTP_LIMITS, openHttp } from '../../src/server/http/index.ts'
import { CommandLoop } from '../../src/server/resp/command-loop.ts'
import { turns } from '../../src/store/pace.ts'
import { type Ask, asks, Crowd, type Ports, SMALL, setup } from './crowds.ts'
import { atEnd } from './ends.ts'
import { type Served, served } from './serving.ts'

const CLIENTS = 100
/** What a turn reads and what waits for it take 8 looks each, and a transaction 20. */
const MOST_STEPS = 40
const UNREAD = 1024 ** 2

let server: Served
let ports: Ports
/** Commands, or runs of similar ones, that were begun. */
let steps = 0

beforeAll(async () => {
  server = await served({ limits: { allUnreadBytes: UNREAD } })
  const http = await openHttp(server.registry, {
    host: '127.0.0.1',
    port: 0,
    limits: HTTP_LIMITS,
    server: server.info,
  })
  atEnd(() => http.close())
  ports = { port: server.listener.port, httpPort: http.port }
  const maker = await server.connect()
  for (const words of setup(10_000, 20)) await maker.ask(...words)
  const { step } = CommandLoop.prototype
  vi.spyOn(CommandLoop.prototype, 'step').mockImplementation(function (this: CommandLoop) {
    const isStep = step.call(this)
    if (isStep) steps++
    return isStep
  })
  let looks = 0
  const { clock } = turns
  turns.clock = () => ++looks
  afterAll(() => {
    turns.clock = clock
  })
})

/** The most that was begun in one turn while something was done. */
async function mostInOneTurn(act: () => Promise<unknown>): Promise<number> {
  const begun = () => steps + server.info.answered.http
  let most = 0
  let before = begun()
  let isOver = false
  const count = () => {
    most = Math.max(most, begun() - before)
    before = begun()
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  await act()
  isOver = true
  return most
}

const rows = asks.map((ask) => ({ what: ask.what, ask }))

describe('a hundred connections that ask at once', () => {
  it.for(rows)('$what: the work of a turn is for all of them', { timeout: 60_000 }, async ({ ask }) => {
    const crowd = await Crowd.open(ports, ask.way, CLIENTS)
    const most = await mostInOneTurn(() => crowd.send(ask, SMALL, true))
    crowd.close()
    expect(most).toBeGreaterThan(0)
    expect(most).toBeLessThanOrEqual(MOST_STEPS)
  })
})

describe('that do not read', () => {
  const long = [
    'COMMAND DOCS 2',
    'KEYS',
    'SIEVE.EXPLAIN',
    'MULTI of 20,000 KEYS',
    'GET /openapi.json',
    'GET /metrics',
  ]
  const some = long.map((what) => rows.find((row) => row.what === what)!.ask)

  it.for(some.map((ask) => ({ what: ask.what, ask })))(
    '$what: their replies are bounded together',
    { timeout: 60_000 },
    async ({ ask }: { ask: Ask }) => {
      const crowd = await Crowd.open(ports, ask.way, CLIENTS)
      let most = 0
      const watch = setInterval(() => {
        most = Math.max(most, server.info.unread.bytes)
      }, 1)
      await crowd.send(ask, { ...SMALL, times: () => 2000 }, false)
      await new Promise((resolve) => setTimeout(resolve, 500))
      clearInterval(watch)
      expect(most).toBeLessThanOrEqual(UNREAD)
      expect(await (await server.connect()).ask('PING')).toBe('PONG')
      crowd.close()
    },
  )
})
