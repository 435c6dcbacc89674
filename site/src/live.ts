// The server's stream of snapshots, one per second, and the history of each sieve. Read with fetch, because EventSource
// cannot send a password; a stream that ends is opened again with increasing delay.
import { ApiError, request, type Snapshot } from './api.ts'
import { History, ServerSamples } from './history.ts'

export type LinkState = 'connecting' | 'live' | 'lost' | 'password'

const FIRST_WAIT_MS = 500
const LONGEST_WAIT_MS = 8000
/** After this long without data the stream counts as lost. */
const SILENCE_MS = 6000

type Listener = () => void

/** The data of each server-sent event in a stream of bytes. */
async function* eventsOf(body: NonNullable<Response['body']>): AsyncGenerator<string> {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader()
  let waiting = ''
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    waiting += value.replaceAll('\r', '')
    for (let end = waiting.indexOf('\n\n'); end >= 0; end = waiting.indexOf('\n\n')) {
      const lines = waiting.slice(0, end).split('\n')
      waiting = waiting.slice(end + 2)
      const data = lines.filter((line) => line.startsWith('data:')).map((line) => line.slice(5).trimStart())
      if (data.length > 0) yield data.join('\n')
    }
  }
}

export class Live {
  state: LinkState = 'connecting'
  snapshot: Snapshot | null = null
  readonly histories = new Map<string, History>()
  readonly server = new ServerSamples()
  readonly #listeners = new Set<Listener>()
  #wait = FIRST_WAIT_MS
  #stop = new AbortController()
  #later = 0

  /** Opens the stream; an open one is closed first. */
  open(): void {
    clearTimeout(this.#later)
    this.#stop.abort()
    this.#stop = new AbortController()
    void this.#read(this.#stop)
  }

  /** Calls the listener immediately, and for each snapshot and change of state. */
  listen(listener: Listener, signal: AbortSignal): void {
    this.#listeners.add(listener)
    signal.addEventListener('abort', () => this.#listeners.delete(listener))
    listener()
  }

  /** Takes a sieve that was dropped out of the last snapshot, before the next one arrives. */
  remove(name: string): void {
    const { snapshot } = this
    if (snapshot) this.snapshot = { ...snapshot, sieves: snapshot.sieves.filter((one) => one.name !== name) }
  }

  async #read(stop: AbortController): Promise<void> {
    let silence = 0
    const restartTimeout = () => {
      clearTimeout(silence)
      silence = window.setTimeout(() => stop.abort(), SILENCE_MS)
    }
    try {
      restartTimeout()
      const response = await request('v1/live', { signal: stop.signal })
      for await (const data of eventsOf(response.body!)) {
        restartTimeout()
        this.#take(JSON.parse(data) as Snapshot)
      }
      this.#change('lost')
    } catch (error) {
      const isPassword = error instanceof ApiError && error.status === 401
      if (stop === this.#stop) this.#change(isPassword ? 'password' : 'lost')
    } finally {
      clearTimeout(silence)
    }
    if (stop !== this.#stop || this.state === 'password') return
    this.#later = window.setTimeout(() => this.open(), this.#wait)
    this.#wait = Math.min(LONGEST_WAIT_MS, this.#wait * 2)
  }

  #take(snapshot: Snapshot): void {
    this.#wait = FIRST_WAIT_MS
    this.snapshot = snapshot
    const at = Date.parse(snapshot.at)
    const names = new Set(snapshot.sieves.map(({ name }) => name))
    for (const name of this.histories.keys()) if (!names.has(name)) this.histories.delete(name)
    for (const sieve of snapshot.sieves) {
      const history = this.histories.get(sieve.name) ?? new History()
      this.histories.set(sieve.name, history)
      history.take(at, sieve)
    }
    this.server.take(at, snapshot, this.histories.values())
    this.#change('live')
  }

  #change(state: LinkState): void {
    this.state = state
    for (const listener of this.#listeners) listener()
  }
}
