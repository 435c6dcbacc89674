// The buffer into which all sockets are read, one after the other: each read is processed before the next. Node offers
// this (`onread`) only for sockets that connect, so the handle of an accepted socket is passed to a new one.
import { Socket } from 'node:net'
import { SLACK } from './command-prefix.ts'

/** Space before the bytes read: the first part of an incomplete command is put there, directly before its rest. */
export const HEADROOM = 64 * 1024
const READ_BYTES = 128 * 1024

/** Accepted sockets are paused (`pauseOnConnect`): nothing is read before the handle is passed on. */
interface Accepted extends Socket {
  _handle?: object | null
  _server?: object | null
  server?: object | null
}

export class ReadBuffer {
  /** Bytes read begin at HEADROOM. */
  readonly bytes = Buffer.allocUnsafeSlow(HEADROOM + READ_BYTES + SLACK)

  /**
   * Returns the socket to use; `take` gets the number of bytes of each read. If this version of Node does not allow to
   * take the handle, that is the accepted socket, read through its `data` events.
   */
  read(accepted: Socket, take: (size: number) => void): Socket {
    const { _handle: handle, _server: server } = accepted as Accepted
    if (!handle || !server || !('useUserBuffer' in handle)) return this.#readFromEvents(accepted, take)
    const old = accepted as Accepted
    old._handle = null
    old._server = null
    const onread = {
      buffer: this.bytes.subarray(HEADROOM, HEADROOM + READ_BYTES),
      callback(size: number) {
        take(size)
        return true
      },
    }
    const socket = new Socket({ handle, allowHalfOpen: true, onread } as ConstructorParameters<
      typeof Socket
    >[0])
    // The server counts its sockets and waits for them when it closes.
    Object.assign(socket, { server, _server: server })
    return socket
  }

  #readFromEvents(socket: Socket, take: (size: number) => void): Socket {
    socket.on('data', (chunk: Buffer) => {
      for (let at = 0; at < chunk.length; at += READ_BYTES) {
        take(chunk.copy(this.bytes, HEADROOM, at, Math.min(chunk.length, at + READ_BYTES)))
      }
    })
    socket.resume()
    return socket
  }
}
