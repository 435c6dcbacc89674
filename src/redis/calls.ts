// One script call to one tag: sent, waited for, and sent again when no answer came, for a bounded time. Calls may be
// repeated: the server keeps the answers of each for a while, so that "new" stays "new".
import { option, SieveError, wording } from '../errors.ts'
import { checkNumber } from '../filters/filter.ts'
import type { Argument, ScriptClient } from './client.ts'
import { Silence, within } from './deadline.ts'
import type { Script } from './scripts.ts'

export interface Patience {
  /** How long to wait for an answer before the call is sent again. Default 5,000. */
  readonly timeoutMs?: number
  /** How long a call may take in all, before it fails. Default 30,000, at most 60,000; 0: sent once. */
  readonly retryMs?: number
}

/** The longest `retryMs`: the cluster keeps answers for longer. */
const LONGEST_RETRY_MS = 60_000

/** The patience among other options, checked. */
export function patienceOf({ timeoutMs, retryMs }: Patience): Patience {
  checkNumber('timeoutMs', timeoutMs, (ms) => ms >= 1, 'at least 1 millisecond')
  checkNumber('retryMs', retryMs, (ms) => ms >= 0 && ms <= LONGEST_RETRY_MS, `0 to ${LONGEST_RETRY_MS}`)
  return { ...(timeoutMs && { timeoutMs }), ...(retryMs !== undefined && { retryMs }) }
}

const FIRST_PAUSE_MS = 20
const LONGEST_PAUSE_MS = 1000

/** Replies that say "not now": a failover, a slot that moves, a server that loads or is busy. */
const NOT_NOW = /^(TRYAGAIN|CLUSTERDOWN|LOADING|MASTERDOWN|READONLY|BUSY|NOREPLICAS|UNBLOCKED|FAILOVER)\b/
/** A reply begins with its code in capitals; what a connection says does not. */
const isReply = ({ message }: Error) => /^[A-Z]{2,}\b/.test(message)

/** Waits `waitMs` for an answer. `isQueued`: a call that cannot be sent yet stays in the client's queue for longer. */
type Attempt = (waitMs: number, isQueued: boolean) => Promise<unknown>

export class Calls {
  readonly #client: ScriptClient
  readonly #keys: readonly string[]
  readonly #timeoutMs: number
  readonly #limitMs: number
  readonly #isSentOnce: boolean
  /** The last call failed: what cannot be sent now shall not pile up in the client. */
  #isTroubled = false
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
    this.#limitMs = retryMs || timeoutMs
    this.#isSentOnce = retryMs === 0
  }

  /** Runs a script where its first key is. Fails with a SieveError, after `retryMs` at the latest. */
  script({ sha, text }: Script, keys: readonly string[], args: readonly Argument[]): Promise<unknown> {
    const tail = [String(keys.length), ...keys, ...args]
    const first = keys[0]!
    return this.#persist(first, (waitMs, isQueued) => {
      const until = performance.now() + waitMs
      return this.#once(first, ['EVALSHA', sha, ...tail], waitMs, isQueued).catch((error: Error) => {
        if (!error.message.startsWith('NOSCRIPT')) throw error
        return this.#once(first, ['EVAL', text, ...tail], Math.max(1, until - performance.now()), isQueued)
      })
    })
  }

  /** Sends a command that may be repeated. */
  command(key: string, args: Argument[]): Promise<unknown> {
    return this.#persist(key, (waitMs, isQueued) => this.#once(key, args, waitMs, isQueued))
  }

  // The client's own timeout takes half of its time, so a call goes without it unless something failed before.
  #persist(key: string, attempt: Attempt): Promise<unknown> {
    const until = performance.now() + this.#limitMs
    const first = attempt(Math.min(this.#timeoutMs, this.#limitMs), !this.#isTroubled)
    return (this.#isTroubled ? first.then((answer) => this.#recover(answer)) : first).catch((error: Error) =>
      this.#goOn(key, attempt, error, until),
    )
  }

  #recover(answer: unknown): unknown {
    this.#isTroubled = false
    return answer
  }

  async #goOn(key: string, attempt: Attempt, first: Error, until: number): Promise<unknown> {
    this.#isTroubled = true
    let error = first
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
      const wait = pause * (0.5 + Math.random())
      if (!mayPass(error, this.#client)) throw refusal(error)
      if (this.#isSentOnce || performance.now() + wait >= until) throw givenUp(error, this.#limitMs)
      if (error instanceof Silence) await this.#refresh(key, until)
      await new Promise((resolve) => setTimeout(resolve, wait))
      const left = until - performance.now()
      if (left < 1) throw givenUp(error, this.#limitMs)
      try {
        return this.#recover(await attempt(Math.min(this.#timeoutMs, left), false))
      } catch (caught) {
        error = caught as Error
      }
    }
  }

  #once(key: string, args: Argument[], waitMs: number, isQueued: boolean): Promise<unknown> {
    return within(waitMs, this.#client.send(key, args, isQueued ? undefined : Math.ceil(waitMs)))
  }

  // One at a time, whoever was met with silence.
  #refresh(key: string, until: number): Promise<void> {
    const waitMs = Math.max(1, Math.min(this.#timeoutMs, until - performance.now()))
    this.#refreshing ??= within(waitMs, this.#client.refresh?.(key, this.#keys) ?? Promise.resolve())
      .catch(() => {})
      .finally(() => {
        this.#refreshing = null
      })
    return this.#refreshing
  }
}

// Whether the same call may do better later. A connection that failed may, also that of a node
// which the cluster's client dropped; a client that was closed will not.
function mayPass(error: Error, client: ScriptClient): boolean {
  if (error.constructor.name === 'ClientClosedError') return client.isOpen?.() ?? false
  return NOT_NOW.test(error.message) || !isReply(error)
}

function refusal(error: Error): SieveError {
  const { message } = error
  if (/^OOM\b/.test(message)) {
    return new SieveError('memory', 'Redis has no memory left: raise maxmemory, or add nodes')
  }
  if (/^MOVED\b/.test(message)) {
    return new SieveError('option', 'this Redis is part of a cluster: use createCluster, not createClient')
  }
  return new SieveError('network', `Redis refuses: ${message}`)
}

function givenUp(error: Error, ms: number): SieveError {
  const { message } = error
  const moving = /^TRYAGAIN\b/.test(message)
    ? "; a slot is still being moved: see 'redis-cli --cluster check'"
    : ''
  // The package has no words for a command that it could not send.
  const why = error instanceof Silence ? 'no reply' : message || 'no connection'
  return new SieveError(
    'network',
    wording`Redis does not answer, for ${ms / 1000} s (${option('retryMs')}): ${why}${moving}`,
    { option: 'retryMs', got: ms },
  )
}
