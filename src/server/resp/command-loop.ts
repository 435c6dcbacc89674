// The commands of one connection, executed in the order in which they were sent: immediately, gathered into batches, or
// queued by a transaction and executed by EXEC.
import { Batcher, type ReplyChannel } from './batcher.ts'
import {
  type Client,
  failureOf,
  type ItemsCommand,
  isItems,
  ParsedCall,
  type PlainCommand,
} from './command.ts'
import type { ConnectionContext } from './connection-context.ts'
import { Parser, type ParserLimits, TLS } from './parser.ts'
import { isHttp, refusalOf } from './refusals.ts'
import { ArrayHead, Failure, type Reply, Simple, Verdicts } from './replies.ts'

/** Limits of a client that has not sent the password. */
const UNTRUSTED_LIMITS: ParserLimits = { itemBytes: 16 * 1024, commandItems: 16 }
const QUEUED = new Simple('QUEUED')
/** As in Redis. */
const REDACTED = Buffer.from('(redacted)')
/** Bytes of a command, or of a few, that is answered in no time. */
const SHORT_BYTES = 1024

/** The connection as its command loop sees it. */
export interface CommandConnection extends Client, ReplyChannel {
  /** Bytes of incomplete and queued commands, as last reported by `hold`. */
  readonly heldBytes: number
  /** Counts these bytes of incomplete and queued commands with those of the other connections. */
  hold(bytes: number): void
}

export class CommandLoop {
  /** Parses the bytes received. */
  readonly incoming: Parser
  /** Where commands are read from: `incoming`, or the queue of a transaction while EXEC runs. */
  #parser: Parser
  readonly #connection: CommandConnection
  readonly #context: ConnectionContext
  readonly #call: ParsedCall
  readonly #batcher: Batcher

  constructor(connection: CommandConnection, context: ConnectionContext) {
    this.#connection = connection
    this.#context = context
    this.incoming = new Parser(this.#limits)
    this.#parser = this.incoming
    this.#call = new ParsedCall(this.incoming, connection, context)
    this.#batcher = new Batcher(connection, context)
  }

  /** Whether EXEC runs. */
  get isInTransaction(): boolean {
    return this.#parser !== this.incoming
  }

  /** Bytes of incomplete and queued commands. */
  get waitingBytes(): number {
    return this.incoming.size - this.incoming.at + this.#connection.transaction.sizeBytes
  }

  /** Call at the start of each turn: other connections may have dropped or created sieves since the last one. */
  begin(): void {
    this.#batcher.checkPrefix()
  }

  /** Reads and executes one command, or a run of similar ones. False: there is no complete command. */
  step(): boolean {
    const parser = this.#parser
    if (this.#batcher.repeat(parser)) return true
    const found = parser.next()
    if (found === 'more') return this.isInTransaction ? this.#endTransaction() : this.#checkSize()
    if (found === 'error') {
      if (parser.error === TLS) this.#context.cut(this.#connection, 'TLS')
      if (this.settle()) this.#refuse(parser.error)
      return false
    }
    this.#execute()
    return true
  }

  /** Whether what comes next takes no time, as far as can be known. */
  isShort(): boolean {
    const parser = this.incoming
    if (parser.size - parser.at > SHORT_BYTES) return false
    if (parser.next() !== 'command') return true
    const command = this.#context.commands.get(this.#call.word(0))
    if (!command || command.flags?.includes('fast') || isItems(command)) return true
    return this.#connection.transaction.isOpen && !command.isImmediate
  }

  /** Answers all commands gathered so far. False: their sieve answers later, and the connection waits for it. */
  settle(): boolean {
    this.#batcher.flush()
    return !this.#connection.isWaiting
  }

  /** Discards the commands gathered so far. */
  discard(): void {
    this.#batcher.clear()
  }

  get #limits(): ParserLimits {
    return this.#connection.isTrusted ? this.#context.limits : UNTRUSTED_LIMITS
  }

  // Refuses an incomplete command that is too large. Always false.
  #checkSize(): false {
    const { bufferedBytes, allBufferedBytes } = this.#context.limits
    const bytes = this.incoming.size - this.incoming.at
    const isAllTooMuch = this.#otherBytes + this.waitingBytes > allBufferedBytes
    if (bytes <= bufferedBytes && !isAllTooMuch) return false
    const why = isAllTooMuch
      ? `incomplete commands of all connections exceed ${allBufferedBytes} bytes (--max-buffered-all)`
      : `a command of more than ${bufferedBytes} bytes (--max-buffered)`
    if (this.settle()) this.#refuse(why)
    return false
  }

  /** Bytes that the other connections hold. */
  get #otherBytes(): number {
    return this.#context.heldBytes - this.#connection.heldBytes
  }

  #refuse(why: string): void {
    this.#connection.reply(new Failure(`ERR ${why}`))
    this.#connection.isLeaving = true
    this.#parser.drop()
  }

  #execute(): void {
    const word = this.#call.word(0)
    const command = this.#context.commands.get(word)
    if (!command && isHttp(word, this.#call)) {
      if (!this.settle()) return
      this.#context.cut(this.#connection, 'HTTP')
      this.#refuse(`this is not an HTTP port: '${word.slice(0, 128)}'`)
      return
    }
    if (command) this.#connection.lastCommand = command.name
    const refusal = refusalOf(command, this.#call)
    if (refusal && command) this.#context.statistics.use(command).rejected++
    if (this.#connection.transaction.isOpen && (refusal || !command!.isImmediate)) this.#queue(refusal, word)
    else if (refusal) this.#answerInOrder(refusal)
    else if (isItems(command!)) this.#gather(command)
    else this.#run(command as PlainCommand)
  }

  // A command between MULTI and EXEC: queued, or refused, and then EXEC executes none.
  #queue(refusal: Failure | null, word: string): void {
    const { transaction } = this.#connection
    if (refusal) {
      const isExec = word === 'EXEC'
      if (isExec) transaction.close()
      else transaction.fail()
      const why = refusal.text.replace(/^ERR /, '')
      this.#finish(isExec ? new Failure(`EXECABORT Transaction discarded because of: ${why}`) : refusal)
      return
    }
    const { bufferedBytes, allBufferedBytes } = this.#context.limits
    const isQueued = transaction.queue(
      this.#call,
      Math.min(bufferedBytes, allBufferedBytes - this.#otherBytes),
    )
    const most = `${bufferedBytes} bytes (--max-buffered), ${allBufferedBytes} of all connections (--max-buffered-all)`
    this.#finish(
      isQueued ? QUEUED : new Failure(`ERR a transaction too long to be queued: expected at most ${most}`),
    )
  }

  #endTransaction(): boolean {
    if (!this.settle()) return false
    const connection = this.#connection
    connection.transaction.close()
    this.#readFrom(this.incoming)
    if (connection.isClosed) return false
    connection.hold(this.waitingBytes)
    return true
  }

  #readFrom(parser: Parser): void {
    this.#parser = parser
    this.#call.parser = parser
  }

  // The commands before this one are answered first.
  #answerInOrder(failure: Failure): void {
    if (this.settle()) this.#finish(failure)
  }

  #run(command: PlainCommand): void {
    if (!this.settle()) return
    this.#batcher.forgetPrefix()
    this.#countRead(command)
    const begun = performance.now()
    let reply: Reply | Promise<Reply>
    try {
      reply = command.run(this.#call)
    } catch (error) {
      reply = failureOf(error)
    }
    const finish = (result: Reply) => {
      this.#measure(command, (performance.now() - begun) * 1000, result)
      this.#finish(result)
    }
    if (reply instanceof Promise) this.#connection.wait<Reply>(reply, finish)
    else finish(reply)
    this.incoming.limits = this.#limits // the command may have been AUTH
  }

  // Whether a command that reads a sieve found it, for INFO.
  #countRead({ keys, flags }: PlainCommand): void {
    if (keys.first === 0 || !flags?.includes('readonly')) return
    const { registry, statistics } = this.#context
    if (registry.get(this.#call.name(keys.first))) statistics.hits++
    else statistics.misses++
  }

  #measure(command: PlainCommand, micros: number, reply: Reply): void {
    const { statistics } = this.#context
    const use = statistics.use(command)
    use.calls++
    use.took(micros, 1)
    if (reply instanceof Failure) use.failed++
    if (!statistics.isSlow(micros)) return
    const call = this.#call
    statistics.addSlow(this.#connection, micros, call.count, (i) =>
      command.isSecret?.(call, i) ? REDACTED : call.bytes(i),
    )
  }

  #finish(reply: Reply): void {
    this.#connection.reply(reply)
    this.#parser.pass()
    // The head of EXEC's replies: the queued commands come next.
    if (reply instanceof ArrayHead) this.#readFrom(this.#connection.transaction.running!)
  }

  // Adds a command's items to the batch, or answers it when there is no such sieve.
  #gather(command: ItemsCommand): void {
    let opened: ReturnType<ItemsCommand['open']>
    try {
      opened = command.open(this.#call)
    } catch (error) {
      opened = failureOf(error)
    }
    if (opened !== null && 'meters' in opened) {
      this.#batcher.put(this.#parser, command, opened)
    } else if (opened instanceof Failure) {
      this.#answerInOrder(opened)
    } else if (!this.settle()) {
      opened?.catch(() => {}) // the command is executed again after those before it
    } else if (opened === null) {
      const { statistics } = this.#context
      statistics.misses++
      statistics.use(command).calls++
      const none = new Verdicts(new Uint8Array(this.#parser.count - 2), command.form)
      this.#finish(
        command.isMany ? none : command.form === 'verdicts' && this.#connection.version === 3 ? false : 0,
      )
    } else {
      // Once the sieve is created the command is executed from its start.
      this.#connection.wait(opened, (created) => {
        if (created instanceof Failure) this.#finish(created)
      })
    }
  }
}
