// What a command is, and what it has access to: its arguments, the client, and the server.
import { isAllocationFailure, SieveError, type SieveErrorCode } from '../../errors.ts'
import { limitOptions } from '../../options/limit-options.ts'
import { spellWith } from '../../options/spelling.ts'
import { filterOptions, sharedNames } from '../../sieve-options.ts'
import type { ServerInfo } from '../info.ts'
import { nameFrom } from '../names.ts'
import type { Password } from '../password.ts'
import type { LentItems, ServedSieve, SieveRegistry } from '../registry.ts'
import type { Dialect } from './dialect.ts'
import type { Dumps } from './dumps.ts'
import type { RespLimits } from './limits.ts'
import type { Parser } from './parser.ts'
import { Failure, type Reply, type VerdictForm } from './replies.ts'
import type { Statistics } from './statistics.ts'
import { type Shape, shapeOf } from './syntax.ts'
import type { Transaction } from './transaction.ts'

/** What the commands of all connections share. */
export interface RespServer {
  readonly registry: SieveRegistry
  readonly info: ServerInfo
  readonly limits: RespLimits
  readonly password: Password | undefined
  readonly dialect: Dialect
  readonly commands: ReadonlyMap<string, Command>
  readonly statistics: Statistics
  readonly dumps: Dumps
  readonly clients: ReadonlySet<Client>
  /** Sieves survive a restart: reported by CONFIG GET and INFO. */
  readonly isDurable: boolean
  /** FLUSHALL and FLUSHDB are executed. */
  readonly allowsFlush: boolean
  readonly port: number
}

/** One connection as its commands see and change it. */
export interface Client {
  readonly id: number
  readonly address: string
  readonly localAddress: string
  readonly connectedAt: number
  /** Time of the last byte received or sent. */
  readonly activeAt: number
  version: 2 | 3
  isTrusted: boolean
  name: string
  library: { name: string; version: string }
  readonly isClosed: boolean
  /** The connection ends after the reply to this command. */
  isLeaving: boolean
  readonly transaction: Transaction
  /** The database that was selected and does not exist, as it was sent; undefined in database 0, the only one. */
  missingDatabase: string | undefined
  /** The last command, for CLIENT LIST. */
  lastCommand: string
  /** Bytes of incomplete and queued commands. */
  readonly heldBytes: number
  /** Closes the connection without sending what is unsent. */
  destroy(): void
}

export interface Call {
  /** Number of arguments, including the command's name. */
  readonly count: number
  /** A copy, as of all arguments: the buffer that they were read into is the next client's as soon as the command waits. */
  bytes(i: number): Buffer
  /** A copy of the arguments from `from` on. */
  items(from: number): LentItems
  /** Bytes of the longest argument from `from` on. */
  longest(from: number): number
  /** The command as it was sent: a view, valid until the command returns or waits. */
  readonly sent: Buffer
  text(i: number): string
  /** The name of a sieve. */
  name(i: number): string
  /** Upper case, for options. */
  word(i: number): string
  readonly client: Client
  readonly server: RespServer
}

/** Which table of the documentation a command is in. */
export type Group = 'bf' | 'sieve' | 'set' | 'generic' | 'transactions' | 'connection' | 'server'

/** A command, described once: errors about its arguments, COMMAND and the documentation follow from this. */
export interface Description {
  /** In upper case; of a subcommand, without the command's. */
  readonly name: string
  /** Its arguments; see syntax.ts. */
  readonly syntax: string
  readonly does: string
  /** What it returns, for the documentation. */
  readonly returns: string
  readonly group: Group
  readonly flags?: readonly string[]
  /** Executed between MULTI and EXEC, not queued. */
  readonly isImmediate?: boolean
  /** Allowed while a database is selected that does not exist: it accesses no sieve. */
  readonly needsNoDatabase?: boolean
  /** Whether argument `i` may be a password: SLOWLOG leaves it out. */
  readonly isSecret?: (call: Call, i: number) => boolean
}

interface PlainDescription extends Description {
  run(call: Call): Reply | Promise<Reply>
}

export interface PlainCommand extends PlainDescription, Shape {
  /** Of a command whose second word is its verb: those verbs. */
  readonly subcommands?: readonly PlainCommand[]
}

interface ItemsDescription extends Description {
  readonly act: 'add' | 'has'
  /** Takes any number of items, and replies with an array unless `form` is `count`. */
  readonly isMany: boolean
  readonly form: VerdictForm
  /** The sieve, possibly after creating it; null: there is none, so nothing was seen; or the error. */
  open(call: Call): ServedSieve | Promise<ServedSieve> | null | Failure
}

/** A command that adds or queries items: those of one pipeline go to the kernel together. */
export interface ItemsCommand extends ItemsDescription, Shape {}

export type Command = PlainCommand | ItemsCommand

export const definePlain = (description: PlainDescription): PlainCommand => ({
  ...description,
  ...shapeOf(description.syntax),
})

export const defineItems = (description: ItemsDescription): ItemsCommand => ({
  ...description,
  ...shapeOf(description.syntax),
})

export const isItems = (command: Command): command is ItemsCommand => 'act' in command

export class ParsedCall implements Call {
  readonly client: Client
  readonly server: RespServer
  /** Has the arguments. */
  parser: Parser

  constructor(parser: Parser, client: Client, server: RespServer) {
    this.parser = parser
    this.client = client
    this.server = server
  }

  get count(): number {
    return this.parser.count
  }

  bytes(i: number): Buffer {
    return Buffer.from(this.parser.argument(i))
  }

  items(from: number): LentItems {
    const { bytes, base } = this.parser.source
    const starts = this.parser.starts.slice(from, this.count)
    const ends = this.parser.ends.slice(from, this.count)
    const first = starts[0] ?? 0
    const end = ends.at(-1) ?? first
    for (let i = 0; i < starts.length; i++) {
      starts[i]! -= first
      ends[i]! -= first
    }
    // A Buffer's slice would share its memory.
    return { bytes: new Uint8Array(bytes.subarray(base + first, base + end)), starts, ends, isKept: true }
  }

  longest(from: number): number {
    const { starts, ends } = this.parser
    let most = 0
    for (let i = from; i < this.count; i++) most = Math.max(most, ends[i]! - starts[i]!)
    return most
  }

  get sent(): Buffer {
    return this.parser.sent
  }

  text(i: number): string {
    return this.parser.argument(i).toString()
  }

  name(i: number): string {
    return nameFrom(this.parser.argument(i))
  }

  word(i: number): string {
    return this.parser.argument(i).toString('latin1').toUpperCase()
  }
}

export const WRONG_TYPE = new Failure('WRONGTYPE Operation against a key holding the wrong kind of value')
export const NOT_FOUND = new Failure('ERR not found')
export const SYNTAX = new Failure('ERR syntax error')
export const NO_KEY = new Failure('ERR no such key')
export const NOT_INTEGER = new Failure('ERR value is not an integer or out of range')

export const wrongArity = (name: string) =>
  new Failure(`ERR wrong number of arguments for '${name.toLowerCase()}' command`)

/** Options of the library as SIEVE.CREATE spells them. */
const wordOf = spellWith([...sharedNames, ...filterOptions, ...limitOptions], ({ word }) => word)

/** The codes of Redis for the codes of SieveError; `ERR` for the others. */
const CODES: Readonly<Partial<Record<SieveErrorCode, string>>> = { memory: 'OOM', disk: 'MISCONF' }

/** The reply for an error; throws it again when it is a defect of urlsieve. */
export function failureOf(error: unknown): Failure {
  if (isAllocationFailure(error)) return new Failure(`OOM ${error.message}`)
  if (!(error instanceof SieveError)) throw error
  return new Failure(`${CODES[error.code] ?? 'ERR'} ${error.spell(wordOf)}`)
}

/** An integer of 64 bits as Redis parses it; null for anything else. */
export function wideOf(text: string): bigint | null {
  if (!/^(0|-?[1-9]\d{0,18})$/.test(text)) return null
  const value = BigInt(text)
  return BigInt.asIntN(64, value) === value ? value : null
}

/** The same as a number: past 2^53 the nearest one. */
export function wholeOf(text: string): number | null {
  const value = wideOf(text)
  return value === null ? null : Number(value)
}
