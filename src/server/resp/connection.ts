// One client connection: reads the socket, works when its turn has come, and sends the replies. A connection that does not
// read its replies is not read either.
import type { Socket } from 'node:net'
import { turns } from '../../store/pace.ts'
import { failureOf } from './command.ts'
import { type CommandConnection, CommandLoop } from './command-loop.ts'
import type { ConnectionContext } from './connection-context.ts'
import { InputBuffer } from './input-buffer.ts'
import { DEFECT } from './refusals.ts'
import { Failure, Long, Replies, type Reply } from './replies.ts'
import { Transaction } from './transaction.ts'

const KEEP_ALIVE_MS = 60_000
/** After this long a transaction waits for its next turn. Before, no command of another client comes between its commands. */
const TRANSACTION_MS = 20
/** Elements of a long reply that are written between two looks at the clock. */
const ELEMENTS = 16
/** Replies of this size are sent before more are written. */
const SENT_BYTES = 64 * 1024

export class Connection implements CommandConnection {
  readonly id: number
  readonly address: string
  readonly localAddress: string
  readonly connectedAt = performance.now()
  version: 2 | 3 = 2
  isTrusted: boolean
  name = ''
  library = { name: '', version: '' }
  isLeaving = false
  missingDatabase: string | undefined = undefined
  lastCommand = ''
  readonly transaction = new Transaction()
  /** Time of the last byte received or sent. */
  activeAt = performance.now()
  readonly replies = new Replies()
  isWaiting = false
  isClosed = false
  answered = 0
  heldBytes = 0
  unreadBytes = 0
  readonly #context: ConnectionContext
  readonly #socket: Socket
  readonly #loop: CommandLoop
  readonly #input: InputBuffer
  /** The client sends nothing more: the connection ends after its replies. */
  #isEnding = false
  /** Waits for the client to read its replies. */
  #isHeldBack = false
  /** The rest of a long reply. */
  #elements: Iterator<Reply> | null = null
  /** When the bytes being answered were read, for the latencies. */
  #begunAt = 0
  /** When this connection's turn began. */
  #turnAt = 0

  constructor(id: number, accepted: Socket, context: ConnectionContext) {
    this.id = id
    this.address = `${accepted.remoteAddress}:${accepted.remotePort}`
    this.localAddress = `${accepted.localAddress}:${accepted.localPort}`
    this.#context = context
    this.isTrusted = context.password === undefined
    this.#loop = new CommandLoop(this, context)
    this.#input = new InputBuffer(this.#loop.incoming, context.readBuffer.bytes)
    const socket = context.readBuffer.read(accepted, (size) => this.receive(size))
    this.#socket = socket
    socket.setNoDelay(true)
    socket.setKeepAlive(true, KEEP_ALIVE_MS)
    socket.on('end', () => this.finish())
    socket.on('drain', () => {
      context.info.unread.hold(this, 0)
      this.#resume()
    })
    socket.on('error', () => socket.destroy())
    socket.on('close', () => {
      this.isClosed = true
      this.hold(0)
      context.info.unread.hold(this, 0)
      context.left(this)
      if (this.#loop.isInTransaction) this.#resume() // a transaction that has begun runs to its end
    })
  }

  /** Whether the server waits for the client: an incomplete command, unread replies, a missing password or end. */
  get isStalled(): boolean {
    const isUnread = this.#socket.writableLength > 0
    const isGoing = this.isLeaving || this.#isEnding
    return isGoing || isUnread || !this.isTrusted || (this.#loop.incoming.isHalf && !this.isWaiting)
  }

  /** Answers what has been received, then ends. */
  finish(): void {
    this.#isEnding = true
    if (!this.isWaiting) this.#end()
  }

  destroy(): void {
    this.#socket.destroy()
  }

  endUnread(): void {
    this.#context.tooMuchUnread(this)
    this.destroy()
  }

  /** `size` bytes were read. */
  receive(size: number): void {
    this.activeAt = performance.now()
    this.#context.statistics.receivedBytes += size
    if (this.isLeaving) return
    this.#input.take(size, this.isWaiting)
    if (!this.isWaiting) {
      this.#begunAt = this.activeAt
      this.#turnAt = turns.clock()
      if (turns.mayBegin(() => this.#loop.isShort())) this.#work()
      else this.#yield()
      // A long command arrives in many reads, which would follow each other without a pause.
      if (!this.isWaiting && !this.isLeaving && turns.isOver) this.#yield()
    }
    this.#input.leave()
    this.hold(this.#loop.waitingBytes)
  }

  hold(bytes: number): void {
    this.#context.heldBytes += bytes - this.heldBytes
    this.heldBytes = bytes
  }

  reply(reply: Reply): void {
    this.replies.version = this.version
    this.replies.write(reply)
    if (reply instanceof Long) this.#elements = reply.elements
    if (reply instanceof Failure) this.#context.info.errors.resp++
    this.answered++
  }

  wait<T>(promise: Promise<T>, then: (result: T | Failure) => void): void {
    this.isWaiting = true
    this.#socket.pause()
    const finish = (result: T | Failure) => {
      if (this.isClosed && !this.#loop.isInTransaction) return
      this.isWaiting = false
      this.activeAt = performance.now()
      try {
        then(result)
      } catch (error) {
        this.#fail(error)
      }
      if (!this.isWaiting) this.#continue()
    }
    const settle = (result: T | Failure) => {
      if (!this.#isOver) finish(result)
      else this.#enter(() => finish(result))
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

  /** Sends the replies written. A client that leaves too many bytes unread is not read until it has read them all. */
  send(): void {
    const { replies } = this
    if (replies.size === 0) return
    this.#context.statistics.sentBytes += replies.size
    const socket = this.#socket
    if (socket.writable) socket.write(replies.written)
    const isUnread = socket.writableLength > 0
    if (isUnread && socket.writableNeedDrain && !this.isClosed) {
      this.#context.info.unread.hold(this, this.unreadBytes + replies.capacity)
    }
    replies.clear(isUnread)
    if (!this.isWaiting) this.#holdBack()
  }

  // Whether too many bytes are unread: nothing is executed and read until the client has read them.
  #holdBack(): boolean {
    if (this.isClosed || this.isLeaving) return false
    const unread = Math.max(this.unreadBytes, this.#socket.writableLength)
    if (unread <= this.#context.limits.unreadBytes) return false
    this.isWaiting = true
    this.#isHeldBack = true
    this.#socket.pause()
    return true
  }

  // Executes everything that can be answered in this turn.
  #work(): void {
    const { limits } = this.#context
    const { replies } = this
    const loop = this.#loop
    try {
      loop.begin()
      while (!this.isWaiting && !this.isLeaving && (this.#writeMore() || loop.step())) {
        if (this.#isOver && loop.settle()) this.#yield()
        if (replies.size < Math.min(SENT_BYTES, limits.unreadBytes)) continue
        loop.settle()
        this.send()
      }
      if (!this.isWaiting) loop.settle()
    } catch (error) {
      this.#fail(error)
    }
    if (replies.size > 0) this.#context.sendLater(this)
    if (this.isWaiting) return
    const { info } = this.#context
    info.answered.resp += this.answered
    info.latencies.resp.observe((performance.now() - this.#begunAt) / 1000, this.answered)
    this.answered = 0
    if (this.isLeaving || this.#isEnding) this.#end()
  }

  #end(): void {
    this.send()
    this.#socket.end()
  }

  #fail(error: unknown): void {
    this.#context.failed(error)
    this.#loop.discard()
    this.replies.write(DEFECT)
    this.isLeaving = true
  }

  /** Whether others come next. */
  get #isOver(): boolean {
    return this.#loop.isInTransaction ? turns.clock() - this.#turnAt > TRANSACTION_MS : turns.isOver
  }

  #enter(work: () => void, isShort = false): void {
    turns.enter(() => {
      this.#turnAt = turns.clock()
      work()
    }, isShort)
  }

  // Works on when its turn has come.
  #yield(): void {
    this.isWaiting = true
    this.#socket.pause()
    const isGoingOn = this.#elements !== null || this.#loop.isInTransaction
    this.#enter(() => {
      if (this.isClosed && !this.#loop.isInTransaction) return
      this.isWaiting = false
      this.activeAt = performance.now()
      this.#continue()
    }, !isGoingOn && this.#loop.isShort())
  }

  // The next elements of a long reply. False: there is none.
  #writeMore(): boolean {
    if (!this.#elements) return false
    for (let i = 0; i < ELEMENTS; i++) {
      const { done, value } = this.#elements.next()
      if (done) {
        this.#elements = null
        break
      }
      this.replies.write(value)
    }
    return true
  }

  #continue(): void {
    if (this.#holdBack()) return
    if (!this.isLeaving) this.#socket.resume()
    this.#work()
  }

  #resume(): void {
    this.activeAt = performance.now()
    if (!this.#isHeldBack) return
    this.#isHeldBack = false
    this.isWaiting = false
    this.#continue()
  }
}
