// /v1/live: a snapshot of all sieves once a second, as server-sent events. All listeners share one snapshot, none is taken
// while there are no listeners, and a slow listener misses some: nothing is queued for it.
import type { ServerResponse } from 'node:http'
import { Pace } from '../../store/pace.ts'
import type { ServerInfo } from '../info.ts'
import { LoadMeter } from '../load.ts'
import type { Load } from '../load-values.ts'
import { forEachSieve } from '../parts.ts'
import type { ServedSieve, SieveRegistry, Storage } from '../registry.ts'
import { Problem } from './problems.ts'

const EVERY_MS = 1000

/** The memory of all sieves and its limit, where they are stored, and whether their shapes are collected. */
export async function capacityOf(registry: SieveRegistry): Promise<Capacity> {
  const { sizeBytes, limitBytes } = registry
  const storage = await registry.storage?.()
  return {
    sizeBytes,
    ...(limitBytes !== undefined && { limitBytes }),
    ...(storage && { storage }),
    ...(registry.shapes && { hasShapes: true }),
  }
}

interface Capacity {
  readonly sizeBytes: number
  readonly limitBytes?: number
  readonly storage?: Storage
  /** Shapes of recent URLs are collected. */
  readonly hasShapes?: boolean
}

/** A sieve in the charts, as JSON. */
async function shown(sieve: ServedSieve): Promise<string> {
  const { filter, profile, urls, sizeBytes, fill, expectedRate, promisedRate, pastCapacity, store } =
    await sieve.stats()
  const { name, kind } = sieve
  const { adds, fresh, seen, asks } = sieve.meters
  const counts = {
    adds,
    fresh,
    seen,
    asks,
    urls,
    sizeBytes,
    fill,
    expectedRate,
    promisedRate,
    pastCapacity,
  }
  const onDisk = store && {
    diskBytes: store.logBytes + store.snapshotBytes,
    isSnapshotting: store.snapshotting,
  }
  return JSON.stringify({ name, kind, filter, profile, ...counts, ...onDisk })
}

/** The current state of the server for the charts: an event, encoded once for all listeners. */
async function snapshot(registry: SieveRegistry, server: ServerInfo, load: Load): Promise<Buffer> {
  const sieves = await forEachSieve(registry, shown)
  const head = JSON.stringify({
    at: new Date().toISOString(),
    uptimeSeconds: (Date.now() - server.startedAt.getTime()) / 1000,
    ...(await capacityOf(registry)),
    connections: server.connections,
    load,
    faults: registry.faults.list(),
  })
  return Buffer.from(`data: ${head.slice(0, -1)},"sieves":[${sieves.join()}]}\n\n`)
}

export class Live {
  readonly #registry: SieveRegistry
  readonly #server: ServerInfo
  readonly #most: number
  readonly #onError: (error: unknown) => void
  readonly #listeners = new Set<ServerResponse>()
  #meter: LoadMeter
  /** Of the last whole interval. */
  #load: Load
  #timer: NodeJS.Timeout | undefined
  #isTaking = false

  /** `onError` is called when a snapshot fails; the next one is tried a second later. */
  constructor(registry: SieveRegistry, server: ServerInfo, most: number, onError: (error: unknown) => void) {
    this.#onError = onError
    this.#registry = registry
    this.#server = server
    this.#most = most
    this.#meter = new LoadMeter(server, performance.now())
    this.#load = this.#meter.take(performance.now())
  }

  get listeners(): number {
    return this.#listeners.size
  }

  listen(response: ServerResponse, headers: Readonly<Record<string, string>>): void {
    response.writeHead(200, { ...headers, 'content-type': 'text/event-stream; charset=utf-8' })
    response.write('retry: 2000\n\n')
    this.#listeners.add(response)
    response.on('close', () => this.#leave(response))
    response.on('error', () => this.#leave(response))
    if (!this.#timer) this.#start()
    this.#tick()
  }

  /** Throws a Problem when there are too many listeners. */
  checkListeners(): void {
    if (this.#listeners.size < this.#most) return
    const detail = `more than ${this.#most} listeners: close a page, or raise --http-max-listeners`
    throw new Problem(503, detail, { headers: { 'retry-after': '10' } })
  }

  close(): void {
    for (const response of this.#listeners) response.end()
    this.#listeners.clear()
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  // Nothing was measured while there were no listeners: the first interval begins now.
  #start(): void {
    this.#meter = new LoadMeter(this.#server, performance.now())
    this.#load = this.#meter.take(performance.now())
    this.#timer = setInterval(() => {
      this.#load = this.#meter.take(performance.now())
      this.#tick()
    }, EVERY_MS)
  }

  #leave(response: ServerResponse): void {
    this.#listeners.delete(response)
    if (this.#listeners.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  async #tick(): Promise<void> {
    if (this.#isTaking) return
    this.#isTaking = true
    try {
      const event = await snapshot(this.#registry, this.#server, this.#load)
      const pace = new Pace()
      for (const response of [...this.#listeners]) {
        if (response.writable && !response.writableNeedDrain && !response.write(event)) {
          this.#server.unread.wrote(response, event.length)
        }
        await pace.rest()
      }
    } catch (error) {
      this.#onError(error)
    } finally {
      this.#isTaking = false
    }
  }
}
