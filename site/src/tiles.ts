// The totals of the server, and the state of its memory and storage.
import type { LiveSieve, Snapshot } from './api.ts'
import { h, setText } from './dom.ts'
import { bytes, compact, count, share, uptime } from './format.ts'
import type { Live } from './live.ts'

/** Below this share of free space the disk is marked. */
const LITTLE_FREE = 0.05

class Tile {
  readonly #value = h('span')
  readonly #note = h('small')
  readonly element: HTMLElement

  constructor(title: string) {
    this.element = h('div', {}, h('dt', {}, title), h('dd', {}, this.#value, this.#note))
  }

  show(value: string, note = '', isAlarm = false): void {
    setText(this.#value, value)
    setText(this.#note, note)
    this.#value.classList.toggle('over', isAlarm)
  }
}

export class Tiles {
  readonly #urls = new Tile('URLs remembered')
  readonly #adds = new Tile('Adds per second')
  readonly #repeats = new Tile('Repeats')
  readonly #memory = new Tile('Memory')
  readonly #storage = new Tile('Storage')
  readonly #connections = new Tile('Connections')
  readonly #uptime = new Tile('Running for')
  readonly element = h(
    'dl',
    { class: 'tiles' },
    ...[
      this.#urls,
      this.#adds,
      this.#repeats,
      this.#memory,
      this.#storage,
      this.#connections,
      this.#uptime,
    ].map(({ element }) => element),
  )

  show(snapshot: Snapshot, live: Live): void {
    const { sieves, sizeBytes, limitBytes, connections, uptimeSeconds } = snapshot
    const sum = (of: (sieve: LiveSieve) => number) => sieves.reduce((all, sieve) => all + of(sieve), 0)
    const latest = (sieve: LiveSieve) => live.histories.get(sieve.name)?.latest('addsPerSecond') ?? 0
    const adds = sum((sieve) => sieve.adds)
    this.#urls.show(compact(sum((sieve) => sieve.urls)))
    this.#adds.show(compact(sum(latest)))
    this.#repeats.show(share(adds === 0 ? null : sum((sieve) => sieve.seen) / adds), 'since the start')
    this.#memory.show(bytes(sizeBytes), limitBytes === undefined ? '' : `of ${bytes(limitBytes)} allowed`)
    this.#connections.show(
      count(connections.resp + connections.http),
      `${count(connections.resp)} RESP, ${count(connections.http)} HTTP`,
    )
    this.#uptime.show(uptime(uptimeSeconds))
    this.#showStorage(snapshot)
  }

  #showStorage({ storage, sieves }: Snapshot): void {
    const { kind, place = '', freeBytes, totalBytes } = storage ?? { kind: 'memory' }
    this.#storage.element.hidden = storage === undefined
    const used = bytes(sieves.reduce((all, { diskBytes = 0 }) => all + diskBytes, 0))
    if (kind === 'memory') this.#storage.show('none', 'in memory: lost at the end')
    else if (kind === 'redis') this.#storage.show('Redis', place)
    else if (freeBytes === undefined || !totalBytes) this.#storage.show(used, `in ${place}`)
    else {
      const isLow = freeBytes / totalBytes < LITTLE_FREE
      this.#storage.show(used, `${bytes(freeBytes)} of ${bytes(totalBytes)} free`, isLow)
    }
  }
}
