// What the connections of a server share besides what their commands see.
import type { Client, RespServer } from './command.ts'
import type { Connection } from './connection.ts'
import type { ReadBuffer } from './read-buffer.ts'

export interface ConnectionContext extends RespServer {
  readonly readBuffer: ReadBuffer
  /** Bytes of incomplete and queued commands, of all connections. */
  heldBytes: number
  /** Makes the connection send its replies when all bytes that have arrived are read: one write for many reads. */
  sendLater(connection: Connection): void
  /** The connection is closed. */
  left(connection: Connection): void
  /** Logs that a client speaks another protocol on this port. */
  cut(client: Client, protocol: 'HTTP' | 'TLS'): void
  /** Logs that a client is disconnected since it does not read its replies. */
  tooMuchUnread(client: Client): void
  /** Logs a defect of urlsieve; the connection is answered with an error and closed. */
  failed(error: unknown): void
}
