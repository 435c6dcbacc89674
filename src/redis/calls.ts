// One script call to one tag: sent, waited for, and sent again when no answer came, for a bounded time. Calls may be
// repeated: the server keeps the answers of each for a while, so that "new" stays "new".
import { option, SieveError, wording } from '../errors.ts'
import { checkNumber } from '../filters/filter.ts'
import { CallMetrics, type RetryReason } from './call-metrics.ts'
import type { Argument, ScriptClient } from './client.ts'
import { Silence, within } from './deadline.ts'
import { type Durability, durabilityOf, writeDurably } from './durability.ts'
import { LeftTagError } from './partial-error.ts'
import type { Script } from './scripts.ts'

export interface Patience extends Durability {
  /** How long to wait for an answer before the call is sent again. Default 5,000. */
  readonly timeoutMs?: number
  /** How long a call may take in all, before it fails. Default 30,000, at most 60,000; 0: sent once. */
  readonly retryMs?: number
  /** Where the calls are counted; one of its own unless given. */
  readonly metrics?: CallMetrics
}

/** The longest `retryMs`: the cluster keeps answers for longer. */
const LONGEST_RETRY_MS = 60_000

/** The patience among other options, checked. */
export function patienceOf({ timeoutMs, retryMs, metrics, waitReplicas, waitAof }: Patience): Patience {
  checkNumber('timeoutMs', timeoutMs, (ms) => ms >= 1, 'at least 1 millisecond')
  checkNumber('retryMs', retryMs, (ms) => ms >= 0 && ms <= LONGEST_RETRY_MS, `0 to ${LONGEST_RETRY_MS}`)
  return {
    ...(timeoutMs && { timeoutMs }),
    ...(retryMs !== undefined && { retryMs }),
    ...(metrics && { metrics }),
    ...(waitReplicas !== undefined && { waitReplicas }),
    ...(waitAof !== undefined && { waitAof }),
  }
}

const FIRST_PAUSE_MS = 20
const LONGEST_PAUSE_MS = 1000

/** Replies that say "not now": a failover, a slot that moves, a server that loads or is busy. */
const NOT_NOW = /^(TRYAGAIN|CLUSTERDOWN|LOADING|MASTERDOWN|READONLY|BUSY|NOREPLICAS|UNBLOCKED|FAILOVER)\b/
/** A reply begins with its code in capitals; what a connection says does not. */
const isReply = ({ message }: Error) => /^[A-Z]{2,}\b/.test(message)

function reasonOf(error: Error): RetryReason {
  if (error instanceof Silence) return 'silence'
  // A client that follows redirections itself has the last reply in its own message.
  if (/\bTRYAGAIN\b/.test(error.message)) return 'tryagain'
  if (/\b(CLUSTERDOWN|READONLY|MASTERDOWN|FAILOVER|UNBLOCKED)\b/.test(error.message)) return 'failover'
  return isReply(error) ? 'busy' : 'connection'
}

/** Waits `waitMs` for an answer. `isQueued`: a call that cannot be sent yet stays in the client's queue for longer. */
type Attempt = (waitMs: number, isQueued: boolean) => Promise<unknown>

/** A call under way. */
interface Call {
  readonly key: string
  readonly attempt: Attempt
  readonly startedAt: number
  /** Who owned the key when it was first sent. */
  readonly owner: string | undefined
  /** An earlier call had failed when it was sent. */
  readonly isAfterFailure: boolean
  retries: number
  /** A node did not answer it, or was no longer the primary. */
  hasFailed: boolean
}

export class Calls {
  readonly metrics: CallMetrics
  readonly #client: ScriptClient
  readonly #keys: readonly string[]
  readonly #timeoutMs: number
  readonly #limitMs: number
  readonly #isSentOnce: boolean
  readonly #durability: ReturnType<typeof durabilityOf>
  /** The last call failed: what cannot be sent now shall not pile up in the client. */
  #isTroubled = false
  #refreshing: Promise<void> | null = null

  /** `keys`: one of each tag, to find out which nodes answer. */
  constructor(
    client: ScriptClient,
    keys: readonly string[],
    { timeoutMs = 5000, retryMs = 30_000, metrics = new CallMetrics(), ...durability }: Patience,
  ) {
    this.#durability = durabilityOf(durability, client)
    this.metrics = metrics
    this.#client = client
    this.#keys = keys
    this.#timeoutMs = timeoutMs
    this.#limitMs = retryMs || timeoutMs
    this.#isSentOnce = retryMs === 0
  }

  /** Runs a script where its first key is. Fails with a SieveError, after `retryMs` at the latest. */
  script(
    { sha, text, isReadOnly }: Script,
    keys: readonly string[],
    args: readonly Argument[],
  ): Promise<unknown> {
    const tail = [String(keys.length), ...keys, ...args]
    const first = keys[0]!
    const run: Attempt = (waitMs, isQueued) => {
      const until = performance.now() + waitMs
      return this.#once(first, ['EVALSHA', sha, ...tail], waitMs, isQueued).catch((error: Error) => {
        if (!error.message.startsWith('NOSCRIPT')) throw error
        return this.#once(first, ['EVAL', text, ...tail], Math.max(1, until - performance.now()), isQueued)
      })
    }
    const durability = this.#durability
    if (isReadOnly || durability === null) return this.#persist(first, run)
    return this.#persist(first, (waitMs, isQueued) =>
      writeDurably(
        durability,
        this.#client,
        first,
        waitMs,
        () => run(waitMs, isQueued),
        (command, leftMs) => this.#once(first, command, leftMs, isQueued),
      ),
    )
  }

  /** Sends a command that may be repeated. */
  command(key: string, args: Argument[]): Promise<unknown> {
    return this.#persist(key, (waitMs, isQueued) => this.#once(key, args, waitMs, isQueued))
  }

  /** Sends a command that answers differently when it is repeated, and notes in `sent` when an attempt may have run. */
  commandOnce(key: string, args: Argument[], sent: { isRepeated: boolean }): Promise<unknown> {
    return this.#persist(key, (waitMs, isQueued) =>
      this.#once(key, args, waitMs, isQueued).catch((error: Error) => {
        // What Redis has refused has not run.
        sent.isRepeated ||= !isReply(error)
        throw error
      }),
    )
  }

  // The client's own timeout takes half of its time, so a call goes without it unless something failed before.
  #persist(key: string, attempt: Attempt): Promise<unknown> {
    const startedAt = performance.now()
    const call: Call = {
      key,
      attempt,
      startedAt,
      owner: this.#client.ownerOf?.(key),
      isAfterFailure: this.#isTroubled,
      retries: 0,
      hasFailed: false,
    }
    return attempt(Math.min(this.#timeoutMs, this.#limitMs), !this.#isTroubled).then(
      (answer) => this.#end(call, answer),
      (error: Error) => this.#goOn(call, error),
    )
  }

  #end(call: Call, answer: unknown): unknown {
    if (call.isAfterFailure || call.retries > 0) this.#isTroubled = false
    const { key, owner } = call
    this.metrics.observeCall(key, performance.now() - call.startedAt, call.retries, null)
    const now = this.#client.ownerOf?.(key)
    if (owner !== undefined && now !== undefined && owner !== now) {
      this.metrics.observeOwner(key, owner, now, call.hasFailed)
    }
    return answer
  }

  #fail(call: Call, error: SieveError): SieveError {
    // A tag that others have left is an answer: the call goes elsewhere.
    const failure = error instanceof LeftTagError ? null : error
    this.metrics.observeCall(call.key, performance.now() - call.startedAt, call.retries, failure)
    return error
  }

  async #goOn(call: Call, first: Error): Promise<unknown> {
    this.#isTroubled = true
    const until = call.startedAt + this.#limitMs
    let error = first
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
      const wait = pause * (0.5 + Math.random())
      if (!mayPass(error, this.#client)) throw this.#fail(call, refusal(error))
      if (this.#isSentOnce || performance.now() + wait >= until) {
        throw this.#fail(call, givenUp(error, this.#limitMs))
      }
      const reason = reasonOf(error)
      call.hasFailed ||= reason === 'silence' || reason === 'connection' || reason === 'failover'
      if (error instanceof Silence) await this.#refresh(call.key, until)
      await new Promise((resolve) => setTimeout(resolve, wait))
      const left = until - performance.now()
      if (left < 1) throw this.#fail(call, givenUp(error, this.#limitMs))
      call.retries++
      this.metrics.observeRetry(call.key, reason, error.message)
      try {
        return this.#end(call, await call.attempt(Math.min(this.#timeoutMs, left), false))
      } catch (caught) {
        // An attempt that only the deadline ended says less than the failure before it.
        if (!(caught instanceof Silence && left < this.#timeoutMs)) error = caught as Error
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
  if (client.isOpen?.() === false) return false
  return NOT_NOW.test(error.message) || !(isReply(error) || error instanceof SieveError)
}

function refusal(error: Error): SieveError {
  const { message } = error
  if (/^OOM\b/.test(message)) {
    return new SieveError('memory', 'Redis has no memory left: raise maxmemory, or add nodes')
  }
  if (/^MOVED\b/.test(message)) {
    return new SieveError('option', 'this Redis is part of a cluster: use createCluster, not createClient')
  }
  if (/^LEFT\b/.test(message)) return new LeftTagError()
  return error instanceof SieveError ? error : new SieveError('network', `Redis refuses: ${message}`)
}

function givenUp(error: Error, ms: number): SieveError {
  const { message } = error
  const moving = /\bTRYAGAIN\b/.test(message)
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
