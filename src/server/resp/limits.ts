// What one client, and all of them together, may ask of a server. Each has a flag of `urlsieve serve`, and an error.

export interface RespLimits {
  /** Bytes of one argument: an item, a name, a chunk of a dump. */
  readonly itemBytes: number
  /** Arguments of one command. */
  readonly commandItems: number
  /** Bytes of commands that a connection may have waiting; one command that is longer is refused. */
  readonly bufferedBytes: number
  /** The same, of all connections together. */
  readonly allBufferedBytes: number
  /** Bytes of replies that a connection may leave unread; until it reads them it is not read either. */
  readonly unreadBytes: number
  readonly connections: number
  /** How long a connection may say nothing. */
  readonly idleMs: number
  /** How long a connection may leave a command half sent, its replies unread, or its password unsaid. */
  readonly stalledMs: number
}

export const respLimits: RespLimits = {
  itemBytes: 1024 * 1024,
  commandItems: 100_000,
  bufferedBytes: 64 * 1024 * 1024,
  allBufferedBytes: 256 * 1024 * 1024,
  unreadBytes: 1024 * 1024,
  connections: 1024,
  idleMs: 3_600_000,
  stalledMs: 30_000,
}
