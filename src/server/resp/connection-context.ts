// What the connections of a server share besides what their commands know.
import type { RespServer } from './command.ts'
import type { Connection } from './connection.ts'
import type { ReadBuffer } from './read-buffer.ts'

export interface ConnectionContext extends RespServer {
  /** Where bytes are read to. */
  readonly readBuffer: ReadBuffer
  /** Bytes of commands that wait, of all connections. */
  heldBytes: number
  /** Has the connection send its replies when all that has arrived is read: one write for many reads. */
  sendLater(connection: Connection): void
  /** When this turn of the event loop began, in which connections are read one after the other. */
  turnBegunAt(): number
  left(connection: Connection): void
  /** Someone sends HTTP here. */
  cutHttp(connection: Connection): void
  /** A defect of ours: the connection is answered with an error, and ends. */
  failed(error: unknown): void
}
