// One connection: bytes in, commands in order, replies out. Adds that follow each other go to the kernel together, once
// for each time the socket was read; a connection that does not read its replies is not read either.
import type { Socket } from 'node:net'
import { SieveError } from '../../errors.ts'
import type { Answers, ServedSieve } from '../registry.ts'
import { Batch, FULL_ITEMS } from './batch.ts'
import {
  type Client,
  failureOf,
  type ItemsCommand,
  isItems,
  ParsedCall,
  type PlainCommand,
} from './command.ts'
import { CommandPrefix } from './command-prefix.ts'
import { commands } from './command-table.ts'
import type { ConnectionContext } from './connection-context.ts'
import { InputBuffer } from './input-buffer.ts'
import { Parser, type ParserLimits } from './parser.ts'
import { DEFECT, isHttp, refusalOf } from './refusals.ts'
import { ArrayHead, Failure, Replies, type Reply, Simple } from './replies.ts'
import { Transaction } from './transaction.ts'

/** What a connection may say before it has said the password. */
const STRANGER: ParserLimits = { itemBytes: 16 * 1024, commandItems: 16 }
const KEEP_ALIVE_MS = 60_000
const QUEUED = new Simple('QUEUED')
/** When a turn has taken so long, those who have more wait until the others were answered. */
const TURN_MS = 10
/** A transaction has more: as long as it goes on no other client's command comes between its own. */
const TRANSACTION_TURN_MS = 25

export class Connection implements Client {
  readonly id: number
  readonly address: string
  readonly connectedAt = performance.now()
  version: 2 | 3 = 2
  isTrusted: boolean
  name = ''
  library = { name: '', version: '' }
  isLeaving = false
  missingDatabase: string | undefined = undefined
  readonly transaction = new Transaction()
  /** When something came or went last. */
  activeAt = performance.now()
  readonly #context: ConnectionContext
  readonly #socket: Socket
  /** Of the bytes that come. */
  readonly #incoming: Parser
  /** Where commands are read from: `#incoming`, or a transaction's while it is being done. */
  #parser: Parser
  readonly #call: ParsedCall
  readonly #batch = new Batch()
  readonly #prefix = new CommandPrefix()
  readonly #replies = new Replies()
  readonly #input: InputBuffer
  /** The sieve that the head names. */
  #prefixName = ''
  #prefixSieve: ServedSieve | undefined
  /** A command is not done yet, or replies are unread: what comes waits. */
  #isWaiting = false
  /** The client has said all; it gets its replies, then the connection ends. */
  #isEnding = false
  #isClosed = false
  #heldBytes = 0
  /** It waits for the client to read. */
  #isHeldBack = false
  /** Commands answered in this turn, and when it began: for the latencies. */
  #answered = 0
  #begunAt = 0

  constructor(id: number, accepted: Socket, context: ConnectionContext) {
    this.id = id
    this.address = `${accepted.remoteAddress}:${accepted.remotePort}`
    this.#context = context
    this.isTrusted = context.password === undefined
    this.#incoming = new Parser(this.#limits)
    this.#parser = this.#incoming
    this.#input = new InputBuffer(this.#incoming, context.readBuffer.bytes)
    this.#call = new ParsedCall(this.#parser, this, context)
    const socket = context.readBuffer.read(accepted, (size) => this.receive(size))
    this.#socket = socket
    socket.setNoDelay(true)
    socket.setKeepAlive(true, KEEP_ALIVE_MS)
    socket.on('end', () => this.finish())
    socket.on('drain', () => this.#resume())
    socket.on('error', () => socket.destroy())
    socket.on('close', () => {
      this.#isClosed = true
      this.#hold(0)
      context.left(this)
      if (this.#parser !== this.#incoming) this.#resume() // a transaction that has begun is done to its end
    })
  }

  get #limits(): ParserLimits {
    return this.isTrusted ? this.#context.limits : STRANGER
  }

  /** Whether it keeps us waiting: a command half sent, replies unread, a password unsaid, an end not met. */
  get isStalled(): boolean {
    const isUnread = this.#socket.writableLength > 0
    const isGoing = this.isLeaving || this.#isEnding
    return isGoing || isUnread || !this.isTrusted || (this.#incoming.isHalf && !this.#isWaiting)
  }

  /** Answers what has come, then ends. */
  finish(): void {
    this.#isEnding = true
    if (!this.#isWaiting) this.#end()
  }

  destroy(): void {
    this.#socket.destroy()
  }

  /** So many bytes were read. */
  receive(size: number): void {
    this.activeAt = performance.now()
    if (this.isLeaving) return
    this.#input.take(size, this.#isWaiting)
    if (!this.#isWaiting) {
      this.#begunAt = this.activeAt
      this.#work()
      // A long command comes in many reads, which would follow each other at once.
      if (!this.#isWaiting && !this.isLeaving && performance.now() - this.#context.turnBegunAt() > TURN_MS) {
        this.#letOthers()
      }
    }
    this.#input.leave()
    this.#hold(this.#waitingBytes())
  }

  // Of commands that are not whole yet, or queued.
  #waitingBytes(): number {
    return this.#incoming.size - this.#incoming.at + this.transaction.sizeBytes
  }

  // So many bytes of commands are waiting here: counted with those of the others.
  #hold(bytes: number): void {
    this.#context.heldBytes += bytes - this.#heldBytes
    this.#heldBytes = bytes
  }

  // All that can be answered now.
  #work(): void {
    const { limits } = this.#context
    const replies = this.#replies
    try {
      this.#checkHead()
      const turn = this.#context.turnBegunAt()
      while (!this.#isWaiting && !this.isLeaving && this.#step()) {
        // A transaction is not held up by replies that its client could not have read yet.
        const isWhole = this.#parser !== this.#incoming
        const most = isWhole ? TRANSACTION_TURN_MS : TURN_MS
        if (performance.now() - turn > most && this.#settled()) this.#letOthers()
        if (replies.size < (isWhole ? limits.bufferedBytes : limits.unreadBytes)) continue
        this.#flush()
        this.send()
      }
      if (!this.#isWaiting) this.#flush()
    } catch (error) {
      this.#fail(error)
    }
    if (replies.size > 0) this.#context.sendLater(this)
    if (this.#isWaiting) return
    const { info } = this.#context
    info.answered.resp += this.#answered
    info.latencies.resp.observe((performance.now() - this.#begunAt) / 1000, this.#answered)
    this.#answered = 0
    if (this.isLeaving || this.#isEnding) this.#end()
  }

  #end(): void {
    this.send()
    this.#socket.end()
  }

  #fail(error: unknown): void {
    this.#context.failed(error)
    this.#batch.clear()
    this.#replies.write(DEFECT)
    this.isLeaving = true
  }

  // Another connection may have dropped the sieve, or made another of its name.
  #checkHead(): void {
    if (this.#prefix.command && this.#context.registry.get(this.#prefixName) !== this.#prefixSieve)
      this.#prefix.forget()
  }

  // Reads and does one command, or a run of them. False: there is no whole one.
  #step(): boolean {
    const parser = this.#parser
    if (this.#prefix.command && parser.isFresh && this.#repeat()) return true
    const found = parser.next()
    if (found === 'more') return parser === this.#incoming ? this.#more() : this.#endTransaction()
    if (found === 'error') {
      this.#flush()
      if (!this.#isWaiting) this.#refuse(parser.error)
      return false
    }
    this.#execute()
    return true
  }

  #more(): boolean {
    const { bufferedBytes, allBufferedBytes } = this.#context.limits
    const bytes = this.#incoming.size - this.#incoming.at
    const isAllTooMuch = this.#context.heldBytes + this.#waitingBytes() - this.#heldBytes > allBufferedBytes
    if (bytes <= bufferedBytes && !isAllTooMuch) return false
    const why = isAllTooMuch
      ? `commands of all connections that wait for their end have more than ${allBufferedBytes} bytes (--max-buffered-all)`
      : `a command of more than ${bufferedBytes} bytes (--max-buffered)`
    if (this.#settled()) this.#refuse(why)
    return false
  }

  #refuse(why: string): void {
    this.#reply(new Failure(`ERR ${why}`))
    this.isLeaving = true
    this.#parser.drop()
  }

  // The same again: true when at least one command was taken.
  #repeat(): boolean {
    const { command } = this.#prefix
    const batch = this.#batch
    const sieve = this.#prefixSieve!
    if (!this.#opens(sieve, command!, this.#parser.bytes)) return true
    const { at } = this.#parser
    this.#prefix.take(this.#parser, batch)
    if (batch.count >= FULL_ITEMS) this.#flush()
    return this.#parser.at !== at
  }

  #execute(): void {
    const word = this.#call.word(0)
    const command = commands.get(word)
    if (!command && isHttp(word, this.#call)) {
      if (!this.#settled()) return
      this.#context.cutHttp(this)
      this.#refuse(`this is no HTTP: '${word.slice(0, 128)}'`)
      return
    }
    const refusal = refusalOf(command, this.#call)
    if (this.transaction.isOpen && (refusal || !command!.isImmediate)) this.#queue(refusal, word)
    else if (refusal) this.#refused(refusal)
    else if (isItems(command!)) this.#gather(command)
    else this.#run(command as PlainCommand)
  }

  // A command between MULTI and EXEC: kept, or refused, and then EXEC does none.
  #queue(refusal: Failure | null, word: string): void {
    const { transaction } = this
    if (refusal) {
      const isEnd = word === 'EXEC'
      if (isEnd) transaction.close()
      else transaction.fail()
      const why = refusal.text.replace(/^ERR /, '')
      this.#done(isEnd ? new Failure(`EXECABORT Transaction discarded because of: ${why}`) : refusal)
      return
    }
    const { bufferedBytes, allBufferedBytes } = this.#context.limits
    const others = this.#context.heldBytes - this.#heldBytes
    const isKept = transaction.queue(this.#call, Math.min(bufferedBytes, allBufferedBytes - others))
    const most = `${bufferedBytes} bytes (--max-buffered), ${allBufferedBytes} of all connections (--max-buffered-all)`
    this.#done(
      isKept ? QUEUED : new Failure(`ERR a transaction too long to be queued: expected at most ${most}`),
    )
  }

  // EXEC was answered with the head of its replies: the commands that were queued come next.
  #beginTransaction(parser: Parser): void {
    this.#readFrom(parser)
  }

  #endTransaction(): boolean {
    if (!this.#settled()) return false
    this.transaction.close()
    this.#readFrom(this.#incoming)
    if (this.#isClosed) return false
    this.#hold(this.#waitingBytes())
    return true
  }

  #readFrom(parser: Parser): void {
    this.#parser = parser
    this.#call.parser = parser
  }

  // An answer that takes no doing.
  #refused(failure: Failure): void {
    if (this.#settled()) this.#done(failure)
  }

  // Whether all gathered so far is answered; else this command waits for its turn.
  #settled(): boolean {
    this.#flush()
    return !this.#isWaiting
  }

  #run(command: PlainCommand): void {
    if (!this.#settled()) return
    this.#prefix.forget()
    let reply: Reply | Promise<Reply>
    try {
      reply = command.run(this.#call)
    } catch (error) {
      reply = failureOf(error)
    }
    if (reply instanceof Promise) this.#wait(reply, (late) => this.#done(late))
    else this.#done(reply)
    this.#incoming.limits = this.#limits
  }

  #done(reply: Reply): void {
    this.#reply(reply)
    this.#parser.pass()
    if (reply instanceof ArrayHead) this.#beginTransaction(this.transaction.running!)
  }

  #reply(reply: Reply): void {
    this.#replies.version = this.version
    this.#replies.write(reply)
    if (reply instanceof Failure) this.#context.info.errors.resp++
    this.#answered++
  }

  // Puts a command's items to those before it; or answers it, when there is no such sieve.
  #gather(command: ItemsCommand): void {
    const opened = command.open(this.#call)
    if (opened !== null && 'meters' in opened) {
      this.#put(command, opened)
    } else if (opened instanceof Failure) {
      this.#refused(opened)
    } else if (!this.#settled()) {
      opened?.catch(() => {}) // those before it come first; it is asked again then
    } else if (opened === null) {
      const none = this.version === 3 ? false : 0
      const items = this.#parser.count - 2
      this.#done(command.isMany ? Array.from({ length: items }, () => none) : none)
    } else {
      // When the sieve is made the command is done from its beginning.
      this.#wait(opened, (made) => {
        if (made instanceof Failure) this.#done(made)
      })
    }
  }

  #put(command: ItemsCommand, sieve: ServedSieve): void {
    const parser = this.#parser
    const { bytes, base } = parser.source
    if (!this.#opens(sieve, command, bytes)) return
    this.#batch.put(parser, base, command.isMany)
    this.#prefix.learn(parser, command)
    this.#prefixSieve = sieve
    this.#prefixName = sieve.name
    parser.pass()
    if (this.#batch.count >= FULL_ITEMS) this.#flush()
  }

  // Whether the batch is one of this sieve and verb; what it was before is handed on first.
  #opens(sieve: ServedSieve, command: ItemsCommand, bytes: Uint8Array): boolean {
    const batch = this.#batch
    if (batch.sieve && (batch.sieve !== sieve || batch.act !== command.act || batch.bytes !== bytes)) {
      this.#flush()
      if (this.#isWaiting) return false
    }
    batch.sieve = sieve
    batch.act = command.act
    batch.bytes = bytes
    batch.isKept = bytes !== this.#context.readBuffer.bytes
    return true
  }

  // Hands the batch to its sieve and writes the replies. When an item fails, those before it stand, its command ends
  // with the error, and the commands after it are tried.
  #flush(command = 0, item = 0): void {
    if (this.#isWaiting) return
    const batch = this.#batch
    while (command < batch.commands) {
      let verdicts: Answers<Uint8Array>
      try {
        verdicts = batch.ask(item)
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
    this.#wait(
      verdicts.then(
        (all) => () => {
          this.#answer(all, command)
          this.#batch.clear()
        },
        (error: unknown) => () => this.#flush(...this.#answerPart(error, command, item)),
      ),
      (act) => (act as () => void)(),
    )
  }

  // Replies to the commands from `command` on, all of them.
  #answer(verdicts: Uint8Array, command: number): void {
    this.#replies.version = this.version
    this.#answered += this.#batch.answer(this.#replies, verdicts, command, this.#batch.commands)
  }

  // Replies to the commands up to the one that failed; returns where the next begins: command and item.
  #answerPart(error: unknown, command: number, item: number): [number, number] {
    const failure = failureOf(error)
    const verdicts = (error as { answered?: Uint8Array }).answered ?? new Uint8Array(0)
    this.#replies.version = this.version
    const next = this.#batch.answerPart(this.#replies, verdicts, command, item)
    this.#answered += next[0] - command - 1
    this.#reply(failure)
    if (!(error instanceof SieveError && error.code === 'network')) return next
    // Whoever does not answer would keep each of the others waiting as long: they fail with it.
    for (let i = next[0]; i < this.#batch.commands; i++) this.#reply(failure)
    return [this.#batch.commands, this.#batch.count]
  }

  // The connection is not read until the promise is kept; then `then` gets what it gave, or a failure.
  #wait<T>(promise: Promise<T>, then: (result: T | Failure) => void): void {
    this.#isWaiting = true
    this.#socket.pause()
    const settle = (result: T | Failure) => {
      if (this.#isClosed && this.#parser === this.#incoming) return
      this.#isWaiting = false
      this.activeAt = performance.now()
      try {
        then(result)
      } catch (error) {
        this.#fail(error)
      }
      if (!this.#isWaiting) this.#goOn()
    }
    promise.then(settle, (error: unknown) => {
      let failure: Failure
      try {
        failure = failureOf(error)
      } catch (defect) {
        this.#context.failed(defect)
        failure = DEFECT
      }
      settle(failure)
    })
  }

  // The others come first, then this goes on with what it has.
  #letOthers(): void {
    this.#wait(new Promise<void>((resolve) => setImmediate(resolve)), () => {})
  }

  #goOn(): void {
    if (!this.isLeaving) this.#socket.resume()
    this.#work()
  }

  /** Sends what is written. A client that leaves too much unread waits until it has read all. */
  send(): void {
    const { limits } = this.#context
    const replies = this.#replies
    if (replies.size === 0) return
    const socket = this.#socket
    if (socket.writable) socket.write(replies.written)
    const unread = socket.writableLength
    replies.clear(unread > 0)
    if (unread <= limits.unreadBytes || this.#isWaiting || this.#isClosed) return
    this.#isWaiting = true
    this.#isHeldBack = true
    socket.pause()
  }

  #resume(): void {
    this.activeAt = performance.now()
    if (!this.#isHeldBack) return
    this.#isHeldBack = false
    this.#isWaiting = false
    this.#goOn()
  }
}
