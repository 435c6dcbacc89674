// SIEVE.CALL: a command with a number, which a client may send again when its reply was lost.
import { randomBytes } from 'node:crypto'
import type { LentItems } from '../registry.ts'
import { digestOf, type Kept } from '../repeated-calls.ts'
import { addAll } from './bloom-filters.ts'
import {
  type Call,
  type Command,
  definePlain,
  type ItemsCommand,
  isItems,
  NOT_INTEGER,
  wholeOf,
} from './command.ts'
import { refusalOf } from './refusals.ts'
import { Failure, type Reply, Verdicts } from './replies.ts'

/** Letters of the server's run in the name of a caller, and random bytes after them. */
const RUN_LETTERS = 8
const CALLER_BYTES = 16
/** Arguments before the command. */
const BEFORE = 3

const OTHER = new Failure(
  'ERR this call number was used for another command within the last minute: count on',
)

const caller = definePlain({
  name: 'SIEVE.CALLER',
  syntax: '',
  does: 'A new name for a client, for SIEVE.CALL; valid until the server stops',
  returns: 'the name',
  group: 'sieve',
  flags: ['fast'],
  needsNoDatabase: true,
  run: ({ server }) => server.info.runId.slice(0, RUN_LETTERS) + randomBytes(CALLER_BYTES).toString('hex'),
})

const callCommand = definePlain({
  name: 'SIEVE.CALL',
  syntax: 'caller number:integer command [argument ...]',
  does: 'Executes a command that writes; sent again within 60 s, only returns its first reply',
  returns: 'what the command returns',
  group: 'sieve',
  flags: ['write', 'denyoom'],
  async run(call) {
    const { info, commands } = call.server
    const name = call.text(1)
    if (wholeOf(call.text(2)) === null) return NOT_INTEGER
    if (
      name.length !== RUN_LETTERS + 2 * CALLER_BYTES ||
      !name.startsWith(info.runId.slice(0, RUN_LETTERS))
    ) {
      return new Failure(
        'NOCALLER this server did not name this caller, or was restarted: SIEVE.CALLER names one',
      )
    }
    const inner = new InnerCall(call, BEFORE)
    const command = commands.get(inner.word(0))
    const refusal = refusalOf(command, inner)
    if (refusal) return refusal
    if (!command!.flags?.includes('write') || command === callCommand) {
      return new Failure(`ERR SIEVE.CALL of '${command!.name.toLowerCase()}': expected a command that writes`)
    }
    const { repeated } = info
    const id = `resp ${name} ${call.text(2)}`
    const begun = await repeated.begin(id, await digestOf(call.sent), inner.count)
    if (begun === 'other') return OTHER
    if (begun === 'full') {
      return new Failure(
        `TRYAGAIN the replies of the last minute take ${repeated.mostBytes} bytes (--max-kept-answers): call later`,
      )
    }
    if (begun !== 'new') return begun.answer as Reply
    let kept: Kept | null = null
    try {
      const reply = await (isItems(command!) ? addItems(command, inner) : command!.run(inner))
      const answer = isItems(command!) ? formed(command, reply) : reply
      if (hasChanged(reply)) kept = keptOf(answer)
      return answer
    } finally {
      repeated.end(id, kept)
    }
  },
})

// What the batcher does for commands outside.
async function addItems(command: ItemsCommand, call: Call): Promise<Reply> {
  const opened = await command.open(call)
  return opened === null || opened instanceof Failure ? opened : addAll(opened, call, 2, command.form)
}

/** The reply of a command with one item, or with their number, from a list of verdicts. */
function formed({ isMany, form }: ItemsCommand, reply: Reply): Reply {
  if (!(reply instanceof Verdicts) || (isMany && form !== 'count')) return reply
  const { answers, failure } = reply
  if (failure) return failure
  const ones = answers.reduce((sum, verdict) => sum + verdict, 0)
  return form === 'verdicts' ? ones === 1 : ones
}

// Verdicts in memory of their own: a part of a larger buffer would keep all of it.
function keptOf(reply: Reply): Kept {
  if (!(reply instanceof Verdicts)) return { answer: reply, bytes: 0 }
  const { answers, form, failure } = reply
  return { answer: new Verdicts(new Uint8Array(answers), form, failure), bytes: answers.length }
}

/** Whether a command may have changed anything. */
const hasChanged = (reply: Reply) =>
  !(reply instanceof Failure || (reply instanceof Verdicts && reply.failure && reply.answers.length === 0))

/** The arguments of a command from the one at `from` on, as a call of its own. */
class InnerCall implements Call {
  readonly #outer: Call
  readonly #from: number

  constructor(outer: Call, from: number) {
    this.#outer = outer
    this.#from = from
  }

  get count(): number {
    return this.#outer.count - this.#from
  }

  get client() {
    return this.#outer.client
  }

  get server() {
    return this.#outer.server
  }

  get sent(): Buffer {
    return this.#outer.sent
  }

  bytes(i: number): Buffer {
    return this.#outer.bytes(i + this.#from)
  }

  items(from: number): LentItems {
    return this.#outer.items(from + this.#from)
  }

  longest(from: number): number {
    return this.#outer.longest(from + this.#from)
  }

  text(i: number): string {
    return this.#outer.text(i + this.#from)
  }

  name(i: number): string {
    return this.#outer.name(i + this.#from)
  }

  word(i: number): string {
    return this.#outer.word(i + this.#from)
  }
}

export const repeatCommands: readonly Command[] = [caller, callCommand]
