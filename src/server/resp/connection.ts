// One connection: bytes in, commands in order, replies out. Adds that follow each other go to the kernel together, once
// for each time the socket was read; a connection that does not read its replies is not read either.
import type { Socket } from 'node:net'
import type { Hosted } from '../house.ts'
import { Batch, FULL_ITEMS, ONE } from './batch.ts'
import {
  type Client,
  type Command,
  failureOf,
  type ItemsCommand,
  isItems,
  ParsedCall,
  type PlainCommand,
  type RespServer,
  wrongArity,
} from './command.ts'
import { Head, SLACK } from './head.ts'
import { Parser, type ParserLimits } from './parser.ts'
import { HEADROOM, type ReadRoom } from './reading.ts'
import { commands } from './registry.ts'
import { Failure, Replies, type Reply } from './replies.ts'

/** What a connection may say before it has said the password. */
const STRANGER: ParserLimits = { itemBytes: 16 * 1024, commandItems: 16 }
/** A buffer for commands cut in two is kept for the next while it is no longer than this. */
const MOST_REST_BYTES = 64 * 1024
const KEEP_ALIVE_MS = 60_000

/** A browser that was sent here by a page: its next lines, which the page chose, must not be read as commands. */
const BROWSERS = new Set(['POST', 'PUT', 'HOST:'])
const DEFECT = new Failure('ERR a defect of urlsieve, please report it')
const NO_AUTH = new Failure('NOAUTH Authentication required.')

/** What the connections of a server share besides what commands know. */
export interface Hall extends RespServer {
  /** Where bytes are read to. */
  readonly room: ReadRoom
  /** Has the connection send its replies when all that has arrived is read: one write for many reads. */
  sendLater(connection: Connection): void
  left(connection: Connection): void
  /** A defect of ours: the connection is answered with an error and goes on. */
  failed(error: unknown): void
}

export class Connection implements Client {
  readonly id: number
  readonly address: string
  readonly connectedAt = performance.now()
  version: 2 | 3 = 2
  isTrusted: boolean
  name = ''
  library = { name: '', version: '' }
  isLeaving = false
  /** When something came or went last. */
  activeAt = performance.now()
  readonly #hall: Hall
  readonly #socket: Socket
  readonly #parser: Parser
  readonly #call: ParsedCall
  readonly #batch = new Batch()
  readonly #head = new Head()
  readonly #replies = new Replies()
  /** What is left of a command cut in two, while others read. */
  #rest = Buffer.alloc(0)
  /** The sieve that the head names. */
  #headName = ''
  #headHosted: Hosted | undefined
  /** A command is not done yet, or replies are unread: what comes waits. */
  #isWaiting = false
  /** The client has said all; it gets its replies, then the connection ends. */
  #isEnding = false
  #isClosed = false
  /** It waits for the client to read. */
  #isHeldBack = false
  /** Commands answered in this turn, and when it began: for the latencies. */
  #answered = 0
  #begunAt = 0

  constructor(id: number, accepted: Socket, hall: Hall) {
    this.id = id
    this.address = `${accepted.remoteAddress}:${accepted.remotePort}`
    this.#hall = hall
    this.isTrusted = hall.password === undefined
    this.#parser = new Parser(this.#limits)
    this.#call = new ParsedCall(this.#parser, this, hall)
    const socket = hall.room.read(accepted, (size) => this.receive(size))
    this.#socket = socket
    socket.setNoDelay(true)
    socket.setKeepAlive(true, KEEP_ALIVE_MS)
    socket.on('end', () => this.finish())
    socket.on('drain', () => this.#resume())
    socket.on('error', () => socket.destroy())
    socket.on('close', () => {
      this.#isClosed = true
      hall.left(this)
    })
  }

  get #limits(): ParserLimits {
    return this.isTrusted ? this.#hall.limits : STRANGER
  }

  /** Whether it keeps us waiting: a command half sent, replies unread, a password unsaid, an end not met. */
  get isStalled(): boolean {
    const isUnread = this.#socket.writableLength > 0
    const isGoing = this.isLeaving || this.#isEnding
    return isGoing || isUnread || !this.isTrusted || (this.#parser.isHalf && !this.#isWaiting)
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
    this.#keep(size)
    if (!this.#isWaiting) {
      this.#begunAt = this.activeAt
      this.#work()
    }
    if (!this.#parser.isOwned) this.#own()
  }

  // Bytes behind those that are left of a command cut in two: these come before them, or, when they are many or a command
  // is waiting, they are put to those.
  #keep(size: number): void {
    const parser = this.#parser
    const room = this.#hall.room.bytes
    const left = parser.size - parser.at
    if (left <= HEADROOM && !this.#isWaiting) {
      parser.bytes.copy(room, HEADROOM - left, parser.at, parser.size)
      parser.bytes = room
      parser.isOwned = false
      parser.at = HEADROOM - left
      parser.size = HEADROOM + size
      return
    }
    const need = left + size
    if (parser.size + size + SLACK > parser.bytes.length) {
      const bytes = Buffer.allocUnsafeSlow(2 * need + SLACK)
      parser.bytes.copy(bytes, 0, parser.at, parser.size)
      parser.bytes = bytes
      parser.at = 0
      parser.size = left
    }
    room.copy(parser.bytes, parser.size, HEADROOM, HEADROOM + size)
    parser.size += size
  }

  // What is left of the bytes read goes to a buffer of its own, before others read.
  #own(): void {
    const parser = this.#parser
    const left = parser.size - parser.at
    if (left + SLACK > this.#rest.length || this.#rest.length > MOST_REST_BYTES) {
      this.#rest = Buffer.allocUnsafeSlow(left + (left >> 1) + SLACK)
    }
    parser.bytes.copy(this.#rest, 0, parser.at, parser.size)
    parser.bytes = this.#rest
    parser.isOwned = true
    parser.at = 0
    parser.size = left
  }

  // All that can be answered now.
  #work(): void {
    const { limits } = this.#hall
    const replies = this.#replies
    try {
      this.#checkHead()
      while (!this.#isWaiting && !this.isLeaving && this.#step()) {
        if (replies.size < limits.unreadBytes) continue
        this.#flush()
        this.send()
      }
      if (!this.#isWaiting) this.#flush()
    } catch (error) {
      this.#fail(error)
    }
    if (replies.size > 0) this.#hall.sendLater(this)
    if (this.#isWaiting) return
    const { info } = this.#hall
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
    this.#hall.failed(error)
    this.#batch.clear()
    this.#replies.write(DEFECT)
    this.isLeaving = true
  }

  // Another connection may have dropped the sieve, or made another of its name.
  #checkHead(): void {
    if (this.#head.command && this.#hall.house.get(this.#headName) !== this.#headHosted) this.#head.forget()
  }

  // Reads and does one command, or a run of them. False: there is no whole one.
  #step(): boolean {
    const parser = this.#parser
    if (this.#head.command && parser.isFresh && this.#repeat()) return true
    const found = parser.next()
    if (found === 'more') return this.#more()
    if (found === 'error') {
      this.#flush()
      if (!this.#isWaiting) this.#refuse(parser.error)
      return false
    }
    this.#execute()
    return true
  }

  #more(): boolean {
    const { bufferedBytes } = this.#hall.limits
    const parser = this.#parser
    if (parser.size - parser.at > bufferedBytes) {
      this.#flush()
      if (!this.#isWaiting) this.#refuse(`a command of more than ${bufferedBytes} bytes (--max-buffered)`)
    }
    return false
  }

  #refuse(why: string): void {
    this.#reply(new Failure(`ERR ${why}`))
    this.isLeaving = true
  }

  // The same again: true when at least one command was taken.
  #repeat(): boolean {
    const { command } = this.#head
    const batch = this.#batch
    const hosted = this.#headHosted!
    if (!this.#opens(hosted, command!, this.#parser.bytes)) return true
    const before = batch.commands
    this.#head.take(this.#parser, batch)
    if (batch.count >= FULL_ITEMS) this.#flush()
    return batch.commands !== before
  }

  #execute(): void {
    const word = this.#call.word(0)
    if (BROWSERS.has(word)) {
      if (this.#settled()) this.#refuse(`this is no HTTP: '${word}'`)
      return
    }
    const command = commands.get(word)
    const refusal = this.#refusalOf(command)
    if (refusal) this.#refused(refusal)
    else if (isItems(command!)) this.#gather(command)
    else this.#run(command as PlainCommand)
  }

  #refusalOf(command: Command | undefined): Failure | null {
    if (!this.isTrusted && !command?.flags?.includes('noauth')) return NO_AUTH
    if (!command) return this.#unknown()
    const { count } = this.#parser
    const { arity } = command
    const isRight = arity > 0 ? count === arity : count >= -arity
    return isRight ? null : wrongArity(command.name)
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

  #unknown(): Failure {
    const shown = (i: number) => this.#call.text(i).slice(0, 128)
    const rest = Array.from({ length: Math.min(this.#call.count - 1, 8) }, (_, i) => `'${shown(i + 1)}' `)
    return new Failure(`ERR unknown command '${shown(0)}', with args beginning with: ${rest.join('')}`)
  }

  #run(command: PlainCommand): void {
    if (!this.#settled()) return
    this.#head.forget()
    let reply: Reply | Promise<Reply>
    try {
      reply = command.run(this.#call)
    } catch (error) {
      reply = failureOf(error)
    }
    if (reply instanceof Promise) this.#wait(reply, (late) => this.#done(late))
    else this.#done(reply)
    this.#parser.limits = this.#limits
  }

  #done(reply: Reply): void {
    this.#reply(reply)
    this.#parser.pass()
  }

  #reply(reply: Reply): void {
    this.#replies.version = this.version
    this.#replies.write(reply)
    if (reply instanceof Failure) this.#hall.info.errors.resp++
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

  #put(command: ItemsCommand, hosted: Hosted): void {
    const parser = this.#parser
    const { bytes, base } = parser.source
    if (!this.#opens(hosted, command, bytes)) return
    const batch = this.#batch
    const items = parser.count - 2
    batch.room(items)
    for (let i = 2; i < parser.count; i++) {
      batch.starts[batch.count] = base + parser.starts[i]!
      batch.ends[batch.count] = base + parser.ends[i]!
      batch.count++
    }
    batch.sizes[batch.commands++] = command.isMany ? items : ONE
    this.#head.learn(parser, command)
    this.#headHosted = hosted
    this.#headName = hosted.name
    parser.pass()
    if (batch.count >= FULL_ITEMS) this.#flush()
  }

  // Whether the batch is one of this sieve and verb; what it was before is handed on first.
  #opens(hosted: Hosted, command: ItemsCommand, bytes: Uint8Array): boolean {
    const batch = this.#batch
    if (batch.hosted && (batch.hosted !== hosted || batch.act !== command.act || batch.bytes !== bytes)) {
      this.#flush()
      if (this.#isWaiting) return false
    }
    batch.hosted = hosted
    batch.act = command.act
    batch.bytes = bytes
    return true
  }

  // Hands the batch to its sieve and writes the replies. When an item fails, those before it stand, its command ends
  // with the error, and the commands after it are tried.
  #flush(command = 0, item = 0): void {
    const batch = this.#batch
    while (command < batch.commands) {
      let verdicts: Uint8Array | Promise<Uint8Array>
      try {
        const items = batch.items(item)
        verdicts = batch.act === 'add' ? batch.hosted!.add(items) : batch.hosted!.has(items)
      } catch (error) {
        ;[command, item] = this.#answerPart(error, command, item)
        continue
      }
      if (verdicts instanceof Promise) {
        this.#answerLater(verdicts, command, item)
        return
      }
      this.#answer(verdicts, command, batch.commands)
      break
    }
    batch.clear()
  }

  #answerLater(verdicts: Promise<Uint8Array>, command: number, item: number): void {
    this.#batch.bytes = this.#batch.bytes.slice()
    this.#wait(
      verdicts.then(
        (all) => () => {
          this.#answer(all, command, this.#batch.commands)
          this.#batch.clear()
        },
        (error: unknown) => () => this.#flush(...this.#answerPart(error, command, item)),
      ),
      (act) => (act as () => void)(),
    )
  }

  // Replies to commands [from, to) with their verdicts.
  #answer(verdicts: Uint8Array, from: number, to: number): void {
    const replies = this.#replies
    replies.version = this.version
    const { sizes } = this.#batch
    let at = 0
    for (let i = from; i < to; i++) {
      const size = sizes[i]!
      if (size === ONE) replies.verdicts(verdicts, at, ++at)
      else {
        replies.array(size)
        replies.verdicts(verdicts, at, at + size)
        at += size
      }
    }
    this.#answered += to - from
    this.#count(verdicts)
  }

  #count(verdicts: Uint8Array): void {
    const { meters } = this.#batch.hosted!
    if (this.#batch.act === 'has') {
      meters.asks += verdicts.length
      return
    }
    let fresh = 0
    for (let i = 0; i < verdicts.length; i++) fresh += verdicts[i]!
    meters.adds += verdicts.length
    meters.fresh += fresh
    meters.seen += verdicts.length - fresh
  }

  // Replies to the commands up to the one that failed; returns where the next begins: command and item.
  #answerPart(error: unknown, from: number, item: number): [number, number] {
    const failure = failureOf(error)
    const verdicts = (error as { answered?: Uint8Array }).answered ?? new Uint8Array(0)
    const { sizes } = this.#batch
    const replies = this.#replies
    let to = from
    let at = 0
    const itemsOf = (i: number) => (sizes[i] === ONE ? 1 : sizes[i]!)
    while (at + itemsOf(to) <= verdicts.length) at += itemsOf(to++)
    this.#answer(verdicts.subarray(0, at), from, to)
    const part = verdicts.subarray(at)
    if (part.length > 0) {
      replies.array(part.length + 1)
      replies.verdicts(part, 0, part.length)
      this.#count(part)
    }
    this.#reply(failure)
    return [to + 1, item + at + itemsOf(to)]
  }

  // The connection is not read until the promise is kept; then `then` gets what it gave, or a failure.
  #wait<T>(promise: Promise<T>, then: (result: T | Failure) => void): void {
    this.#isWaiting = true
    this.#socket.pause()
    const settle = (result: T | Failure) => {
      if (this.#isClosed) return
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
        this.#hall.failed(defect)
        failure = DEFECT
      }
      settle(failure)
    })
  }

  #goOn(): void {
    if (!this.isLeaving) this.#socket.resume()
    this.#work()
  }

  /** Sends what is written. A client that leaves too much unread waits until it has read all. */
  send(): void {
    const { limits } = this.#hall
    const replies = this.#replies
    if (replies.size === 0) return
    const socket = this.#socket
    if (socket.writable) socket.write(replies.written)
    const unread = socket.writableLength
    replies.clear(unread > 0)
    if (unread <= limits.unreadBytes || this.#isWaiting) return
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
