// Gathers the items of consecutive commands on one sieve, so that each read of the socket costs one call of the kernel,
// and writes their replies in the order of the commands.
import { SieveError } from '../../errors.ts'
import { nameBytes } from '../names.ts'
import type { Answers, ServedSieve } from '../registry.ts'
import { Batch, FULL_ITEMS } from './batch.ts'
import { isFull } from './bloom-filters.ts'
import { type Client, failureOf, type ItemsCommand } from './command.ts'
import { CommandPrefix } from './command-prefix.ts'
import type { ConnectionContext } from './connection-context.ts'
import type { Parser } from './parser.ts'
import type { Failure, Replies, Reply } from './replies.ts'
import type { CommandUse } from './statistics.ts'

/** Where the replies of one connection go. */
export interface ReplyChannel extends Pick<Client, 'address' | 'name'> {
  version: 2 | 3
  readonly replies: Replies
  /** Commands answered in this turn. */
  answered: number
  /** A command is not finished, or replies are unread: no further command is executed. */
  readonly isWaiting: boolean
  /** Writes and counts the reply to one command. */
  reply(reply: Reply): void
  /** Stops reading until the promise settles; then `then` gets its value, or a failure. */
  wait<T>(promise: Promise<T>, then: (result: T | Failure) => void): void
}

export class Batcher {
  readonly #channel: ReplyChannel
  readonly #context: ConnectionContext
  readonly #batch = new Batch()
  readonly #prefix = new CommandPrefix()
  /** The sieve that the prefix names. */
  #prefixName = ''
  #prefixSieve: ServedSieve | undefined
  /** The last command gathered, with its counts. */
  #command: ItemsCommand | undefined
  #use: CommandUse | undefined
  /** When the batch was passed to its sieve. */
  #begunAt = 0

  constructor(channel: ReplyChannel, context: ConnectionContext) {
    this.#channel = channel
    this.#context = context
  }

  /** Forgets the prefix when its sieve was dropped, or replaced by another of the same name. */
  checkPrefix(): void {
    if (this.#prefix.command && this.#context.registry.get(this.#prefixName) !== this.#prefixSieve) {
      this.#prefix.forget()
    }
  }

  forgetPrefix(): void {
    this.#prefix.forget()
  }

  clear(): void {
    this.#batch.clear()
  }

  /** Takes the commands that repeat the last one. False: the next command is a different one. */
  repeat(parser: Parser): boolean {
    const { command } = this.#prefix
    if (!command || !parser.isFresh) return false
    const batch = this.#batch
    if (!this.#prepare(this.#prefixSieve!, command, parser.bytes)) return true
    const { at } = parser
    const before = batch.commands
    this.#prefix.take(parser, batch)
    this.#use!.calls += batch.commands - before
    if (batch.count >= FULL_ITEMS) this.flush()
    return parser.at !== at
  }

  /** Adds the items of the command that the parser has found, unless the connection has to wait first. */
  put(parser: Parser, command: ItemsCommand, sieve: ServedSieve): void {
    const { bytes, base } = parser.source
    if (!this.#prepare(sieve, command, bytes)) return
    const batch = this.#batch
    batch.put(parser, base, command.isMany)
    this.#command = command
    this.#use = this.#context.statistics.use(command)
    this.#use.calls++
    // Alone: whether its items fit is decided for each command.
    batch.isWhole = this.#context.dialect.isWhole && sieve.bloom?.expansion === 0
    if (batch.isWhole) this.#prefix.forget()
    else this.#prefix.learn(parser, command)
    this.#prefixSieve = sieve
    this.#prefixName = sieve.name
    parser.pass()
    if (batch.isWhole || batch.count >= FULL_ITEMS) this.flush()
  }

  // Starts a batch for this sieve and verb unless it is the current one, which is flushed. False: the connection waits.
  #prepare(sieve: ServedSieve, command: ItemsCommand, bytes: Uint8Array): boolean {
    const batch = this.#batch
    const isOther = batch.sieve !== sieve || batch.act !== command.act || batch.form !== command.form
    if (batch.sieve && (isOther || batch.bytes !== bytes)) {
      this.flush()
      if (this.#channel.isWaiting) return false
    }
    batch.sieve = sieve
    batch.act = command.act
    batch.form = command.form
    batch.bytes = bytes
    batch.isKept = bytes !== this.#context.readBuffer.bytes
    return true
  }

  /**
   * Hands the batch to its sieve and writes the replies. When an item fails, the items before it stand, its command ends
   * with the error, and the commands after it are tried.
   */
  flush(command = 0, item = 0): void {
    if (this.#channel.isWaiting) return
    const batch = this.#batch
    if (command === 0) this.#begunAt = performance.now()
    while (command < batch.commands) {
      let verdicts: Answers<Uint8Array>
      try {
        verdicts = batch.execute(item)
      } catch (error) {
        ;[command, item] = this.#answerPart(error, command, item)
        continue
      }
      if (verdicts instanceof Promise) {
        this.#answerLater(verdicts, command, item)
        return
      }
      this.#answer(verdicts, command)
      break
    }
    batch.clear()
  }

  #answerLater(verdicts: Promise<Uint8Array>, command: number, item: number): void {
    this.#batch.keep()
    this.#channel.wait(
      verdicts.then(
        (all) => () => {
          this.#answer(all, command)
          this.#batch.clear()
        },
        (error: unknown) => () => this.flush(...this.#answerPart(error, command, item)),
      ),
      (act) => (act as () => void)(),
    )
  }

  // Writes the replies to all commands from `command` on.
  #answer(verdicts: Uint8Array, command: number): void {
    const { replies, version } = this.#channel
    replies.version = version
    const batch = this.#batch
    this.#channel.answered += batch.answer(replies, verdicts, command, batch.commands)
    if (batch.act === 'has') this.#context.statistics.hits += batch.commands
    const micros = (performance.now() - this.#begunAt) * 1000
    this.#use!.took(micros, batch.commands)
    if (this.#context.statistics.isSlow(micros)) this.#addSlow(micros)
  }

  // The items are not recorded: they are no longer where they were.
  #addSlow(micros: number): void {
    const { sieve, count, commands } = this.#batch
    const words = [this.#command!.name, sieve!.name, `... (${count} items of ${commands} commands)`]
    const bytes = words.map((word) => nameBytes(word))
    this.#context.statistics.addSlow(this.#channel, micros, words.length, (i) => bytes[i]!)
  }

  // Writes the replies up to the command that failed. Returns the command and the item after it.
  #answerPart(error: unknown, command: number, item: number): [number, number] {
    const channel = this.#channel
    const batch = this.#batch
    const failure = failureOf(error)
    const verdicts = (error as { answered?: Uint8Array }).answered ?? new Uint8Array(0)
    channel.replies.version = channel.version
    const next = batch.answerPart(channel.replies, verdicts, command, item, isFull(error))
    if (this.#use) this.#use.failed++
    channel.answered += next[0] - command - 1
    channel.reply(failure)
    if (!(error instanceof SieveError && error.code === 'network')) return next
    // A server that does not answer would delay each of the other commands as long: they fail with this one.
    for (let i = next[0]; i < batch.commands; i++) channel.reply(failure)
    return [batch.commands, batch.count]
  }
}
