// One script call to one tag: sent, waited for, and sent again when no answer came, for a bounded time. Calls may be
// repeated: the server keeps the answers of each for a while, so that "new" stays "new".
import { SieveError } from '../errors.ts'
import type { Argument, ScriptClient } from './client.ts'
import type { Script } from './scripts.ts'

export interface Patience {
  /** How long to wait for an answer before the call is sent again. Default 5,000. */
  readonly timeoutMs?: number
  /** How long to go on in all, before the call fails. Default 30,000, at most 60,000. */
  readonly retryMs?: number
}

const FIRST_PAUSE_MS = 20
const LONGEST_PAUSE_MS = 1000

/** Replies that say "not now": a failover, a slot that moves, a server that loads or is busy. */
const NOT_NOW = /^(TRYAGAIN|CLUSTERDOWN|LOADING|MASTERDOWN|READONLY|BUSY|NOREPLICAS|UNBLOCKED|FAILOVER)\b/
/** A reply begins with its code in capitals; what a connection says does not. */
const isReply = ({ message }: Error) => /^[A-Z]{2,}\b/.test(message)

class Silence extends Error {}

type Attempt = (timeoutMs?: number) => Promise<unknown>

export class Calls {
  readonly #client: ScriptClient
  readonly #keys: readonly string[]
  readonly #timeoutMs: number
  readonly #retryMs: number
  #refreshing: Promise<void> | null = null

  /** `keys`: one of each tag, to find out which nodes answer. */
  constructor(
    client: ScriptClient,
    keys: readonly string[],
    { timeoutMs = 5000, retryMs = 30_000 }: Patience,
  ) {
    this.#client = client
    this.#keys = keys
    this.#timeoutMs = timeoutMs
    this.#retryMs = retryMs
  }

  /** Runs a script where its first key is. Fails with a SieveError, after `retryMs` at the latest. */
  script({ sha, text }: Script, keys: readonly string[], args: readonly Argument[]): Promise<unknown> {
    const tail = [String(keys.length), ...keys, ...args]
    const first = keys[0]!
    return this.#persist(first, (timeoutMs) =>
      this.#once(first, ['EVALSHA', sha, ...tail], timeoutMs).catch((error: Error) => {
        if (!error.message.startsWith('NOSCRIPT')) throw error
        return this.#once(first, ['EVAL', text, ...tail], timeoutMs)
      }),
    )
  }

  /** Sends a command that may be repeated. */
  command(key: string, args: Argument[]): Promise<unknown> {
    return this.#persist(key, (timeoutMs) => this.#once(key, args, timeoutMs))
  }

  #persist(key: string, attempt: Attempt): Promise<unknown> {
    return attempt().catch((error: Error) => this.#goOn(key, attempt, error))
  }

  async #goOn(key: string, attempt: Attempt, first: Error): Promise<unknown> {
    const until = performance.now() + this.#retryMs
    let error = first
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
      const wait = pause * (0.5 + Math.random())
      if (!mayPass(error)) throw refusal(error)
      if (performance.now() + wait > until) throw givenUp(error, this.#retryMs)
      if (error instanceof Silence) await this.#refresh(key)
      await new Promise((resolve) => setTimeout(resolve, wait))
      try {
        return await attempt(this.#timeoutMs) // what cannot be sent does not pile up
      } catch (caught) {
        error = caught as Error
      }
    }
  }

  #once(key: string, args: Argument[], timeoutMs?: number): Promise<unknown> {
    return within(this.#timeoutMs, this.#client.send(key, args, timeoutMs))
  }

  // One at a time, whoever was met with silence.
  #refresh(key: string): Promise<void> {
    this.#refreshing ??= within(this.#timeoutMs, this.#client.refresh?.(key, this.#keys) ?? Promise.resolve())
      .catch(() => {})
      .finally(() => {
        this.#refreshing = null
      })
    return this.#refreshing
  }
}

function within<T>(ms: number, promise: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Silence(`no answer within ${ms} ms`)), ms)
    promise.then(
      (value) => {
        clearTimeout(timer)
        resolve(value)
      },
      (error) => {
        clearTimeout(timer)
        reject(error)
      },
    )
  })
}

// Whether the same call may do better later. A connection that failed may; a client that was closed will not.
function mayPass(error: Error): boolean {
  if (error.constructor.name === 'ClientClosedError') return false
  return NOT_NOW.test(error.message) || !isReply(error)
}

function refusal(error: Error): SieveError {
  const { message } = error
  if (/^OOM\b/.test(message)) {
    return new SieveError('room', 'Redis has no memory left: raise maxmemory, or add nodes')
  }
  if (/^MOVED\b/.test(message)) {
    return new SieveError('option', 'this Redis is part of a cluster: use createCluster, not createClient')
  }
  return new SieveError('network', `Redis refuses: ${message}`)
}

function givenUp({ message }: Error, ms: number): SieveError {
  const moving = /^TRYAGAIN\b/.test(message)
    ? "; a slot is still being moved: see 'redis-cli --cluster check'"
    : ''
  const why = message || 'no connection' // what the package says of a command that it could not send
  return new SieveError('network', `Redis does not answer, for ${ms / 1000} s: ${why}${moving}`)
}
