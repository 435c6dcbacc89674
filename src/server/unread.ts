// Replies that clients have not read, of RESP and HTTP together. Past the limit the client with the most of them is disconnected:
// whoever reads is not made to wait for those who do not.

import type { EventEmitter } from 'node:events'

/** A client, or one response to it. */
export interface Reader {
  /** What it has not read, as last counted. */
  unreadBytes: number
  /** Disconnects it. */
  endUnread(): void
}

/** A response of HTTP. */
interface Response extends EventEmitter {
  readonly socket: { destroy(): void } | null
}

export class Unread {
  readonly mostBytes: number
  /** Of all clients. */
  bytes = 0
  /** Clients disconnected since the start. */
  ended = 0
  readonly #readers = new Set<Reader>()
  readonly #responses = new WeakMap<Response, Reader>()

  constructor(mostBytes: number) {
    this.mostBytes = mostBytes
  }

  /** The reader now has this much unread. */
  hold(reader: Reader, bytes: number): void {
    this.bytes += bytes - reader.unreadBytes
    reader.unreadBytes = bytes
    if (bytes > 0) this.#readers.add(reader)
    else this.#readers.delete(reader)
    while (this.bytes > this.mostBytes) this.#endLargest()
  }

  /** So many bytes were written to a response: they count until it is finished, or has been read so far. */
  wrote(response: Response, bytes: number): void {
    let reader = this.#responses.get(response)
    if (!reader) {
      const { socket } = response
      const made = { unreadBytes: 0, endUnread: () => void socket?.destroy() }
      reader = made
      this.#responses.set(response, reader)
      for (const event of ['drain', 'close']) response.on(event, () => this.hold(made, 0))
    }
    this.hold(reader, reader.unreadBytes + bytes)
  }

  #endLargest(): void {
    let largest: Reader | undefined
    for (const reader of this.#readers) {
      if (!largest || reader.unreadBytes > largest.unreadBytes) largest = reader
    }
    if (!largest) return
    this.ended++
    this.hold(largest, 0)
    largest.endUnread()
  }
}
