// Limits for one RESP client and for all of them together. Each has a flag of `urlsieve serve` and an
// error of its own.

import { MOST_UNREAD_BYTES } from '../info.ts'

export interface RespLimits {
  /** Bytes of one argument: an item, a name, a chunk of a dump. */
  readonly itemBytes: number
  /** Arguments of one command. */
  readonly commandItems: number
  /** Bytes of one incomplete command, or of the queue of a transaction. */
  readonly bufferedBytes: number
  /** The same, of all connections together. */
  readonly allBufferedBytes: number
  /** Bytes of replies a client may leave unread; beyond it, nothing is read from the client. */
  readonly unreadBytes: number
  /** The same, of all clients of RESP and HTTP; beyond it, the client with the most is disconnected. */
  readonly allUnreadBytes: number
  readonly connections: number
  /** How long a connection may be idle. */
  readonly idleMs: number
  /** How long a connection may leave a command incomplete, its replies unread, or itself unauthenticated. */
  readonly stalledMs: number
}

export const respLimits: RespLimits = {
  itemBytes: 1024 * 1024,
  commandItems: 100_000,
  bufferedBytes: 64 * 1024 * 1024,
  allBufferedBytes: 256 * 1024 * 1024,
  unreadBytes: 1024 * 1024,
  allUnreadBytes: MOST_UNREAD_BYTES,
  connections: 1024,
  idleMs: 3_600_000,
  stalledMs: 30_000,
}
