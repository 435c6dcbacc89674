// How sockets are read: all into one large buffer, one after the other, since each read is worked off before the next.
// Node offers that (`onread`) for sockets that connect; a socket that was accepted is handed over to one made so.
import { Socket } from 'node:net'
import { SLACK } from './command-prefix.ts'

/** Room before the bytes read: what was left of a command cut in two is put there, right before its rest. */
export const HEADROOM = 64 * 1024
const READ_BYTES = 256 * 1024

/** Accepted sockets are paused (`pauseOnConnect`), so that nothing is read before they are handed over. */
interface Accepted extends Socket {
  _handle?: object | null
  _server?: object | null
  server?: object | null
}

export class ReadBuffer {
  /** Bytes read lie behind HEADROOM. */
  readonly bytes = Buffer.allocUnsafeSlow(HEADROOM + READ_BYTES + SLACK)

  /**
   * The socket to go on with: `take` is told how many bytes were read. Where this Node does not let go of an accepted
   * socket, that one, read the usual way.
   */
  read(accepted: Socket, take: (size: number) => void): Socket {
    const { _handle: handle, _server: server } = accepted as Accepted
    if (!handle || !server || !('useUserBuffer' in handle)) return this.#readUsually(accepted, take)
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
    // The server counts its sockets, and waits for them when it closes.
    Object.assign(socket, { server, _server: server })
    return socket
  }

  #readUsually(socket: Socket, take: (size: number) => void): Socket {
    socket.on('data', (chunk: Buffer) => {
      for (let at = 0; at < chunk.length; at += READ_BYTES) {
        take(chunk.copy(this.bytes, HEADROOM, at, Math.min(chunk.length, at + READ_BYTES)))
      }
    })
    socket.resume()
    return socket
  }
}
