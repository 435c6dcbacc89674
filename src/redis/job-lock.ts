// One process at a time under the name of a job: a key in Redis with a short expiry, renewed while the process lives.
import { SieveError } from '../errors.ts'
import type { Calls } from './calls.ts'
import { script } from './scripts.ts'

/** A process that is gone leaves its job free after this long. */
const LOCK_MS = 2000
const RENEW_MS = 500
const POLL_MS = 100

// The value is a token and a count of renewals: who waits sees that the holder is alive.
// KEYS: 1 the lock. ARGV: token, count, lifetime in ms. 1: it is the token's; else the value that is there.
const renewScript = script(`
local there = redis.call('GET', KEYS[1])
if there and string.sub(there, 1, #ARGV[1]) ~= ARGV[1] then return there end
redis.call('SET', KEYS[1], ARGV[1] .. ARGV[2], 'PX', ARGV[3])
return 1`)

// KEYS: 1 the lock. ARGV: token.
const releaseScript = script(`
local there = redis.call('GET', KEYS[1])
if there and string.sub(there, 1, #ARGV[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
return 1`)

export class JobLock {
  readonly #calls: Calls
  readonly #key: string
  readonly #who: string
  readonly #token = `${Buffer.from(crypto.getRandomValues(new Uint8Array(9))).toString('base64url')}:`
  #renewals = 0
  #isRenewing = false
  #isLost = false
  #timer: NodeJS.Timeout | null = null

  private constructor(calls: Calls, key: string, who: string) {
    this.#calls = calls
    this.#key = key
    this.#who = who
  }

  /** Waits for the lock of a process that is gone; throws a SieveError when its holder is alive. `who`: for messages. */
  static async take(calls: Calls, key: string, who: string): Promise<JobLock> {
    const lock = new JobLock(calls, key, who)
    let first: unknown
    for (;;) {
      const there = await lock.#renew()
      if (there === 1) break
      first ??= there
      if (there !== first) throw lock.#taken()
      await new Promise((resolve) => setTimeout(resolve, POLL_MS))
    }
    lock.#timer = setInterval(() => void lock.#beat(), RENEW_MS)
    lock.#timer.unref()
    return lock
  }

  /** Throws when another process has taken over while this one was silent. */
  check(): void {
    if (this.#isLost) throw this.#taken()
  }

  async release(): Promise<void> {
    clearInterval(this.#timer!)
    // Redis may be away: then the lock expires.
    await this.#calls.script(releaseScript, [this.#key], [this.#token]).catch(() => {})
  }

  async #beat(): Promise<void> {
    if (this.#isRenewing) return
    this.#isRenewing = true
    try {
      this.#isLost = (await this.#renew()) !== 1
      if (this.#isLost) clearInterval(this.#timer!)
    } catch {
      // Redis is away: whoever comes first when it is back has the lock.
    } finally {
      this.#isRenewing = false
    }
  }

  #renew(): Promise<unknown> {
    const args = [this.#token, String(++this.#renewals), String(LOCK_MS)]
    return this.#calls.script(renewScript, [this.#key], args)
  }

  #taken(): SieveError {
    return new SieveError(
      'locked',
      `${this.#who} is run by another process: end that one, or use another job name`,
    )
  }
}
