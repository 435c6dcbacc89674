// Requests begin one after the other, however many there are, and a connection is not read on while some of its own wait.
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { turns } from '../../store/pace.ts'

export class RequestTurns {
  /** Requests of a connection that wait. */
  readonly #waiting = new WeakMap<Socket, number>()

  /** Calls `begin` when the turn of this request has come, unless its client is gone by then. */
  take({ socket }: IncomingMessage, isShort: boolean, begin: () => void): void {
    const before = this.#waiting.get(socket) ?? 0
    if (before === 0 && turns.mayBegin(() => isShort)) {
      begin()
      return
    }
    this.#waiting.set(socket, before + 1)
    socket.pause?.()
    turns.enter(() => {
      const left = this.#waiting.get(socket)! - 1
      this.#waiting.set(socket, left)
      if (socket.destroyed) return
      if (left === 0) socket.resume?.()
      begin()
    }, isShort)
  }
}
