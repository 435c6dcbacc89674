// BF.SCANDUMP and BF.LOADCHUNK as in RedisBloom, with chunks of the .sieve file format.
import { SieveError } from '../../errors.ts'
import { bloomAt } from './bloom-commands.ts'
import { type Call, type Command, NOT_FOUND, type PlainCommand, wholeOf } from './command.ts'
import { Failure, OK, type Reply } from './replies.ts'

const UNABLE = new Failure('ERR this server keeps its filters elsewhere: it can neither dump nor load them')

const scandump: PlainCommand = {
  name: 'BF.SCANDUMP',
  arity: 3,
  does: 'Returns a filter in chunks, from iterator 0 on',
  flags: ['readonly'],
  key: 1,
  async run(call) {
    const found = bloomAt(call)
    if (!found) return NOT_FOUND
    if (found instanceof Failure) return found
    const iterator = wholeOf(call.text(2))
    if (iterator === null) return new Failure('Second argument must be numeric')
    if (!found.dump) return UNABLE
    const { dumps } = call.server
    const { next, bytes } = await (iterator === 0 ? dumps.begin(found) : dumps.next(found, iterator))
    return [next, bytes]
  },
}

const loadchunk: PlainCommand = {
  name: 'BF.LOADCHUNK',
  arity: 4,
  does: 'Restores a filter from its chunks',
  flags: ['write', 'denyoom'],
  key: 1,
  async run(call) {
    const iterator = wholeOf(call.text(2))
    if (iterator === null) return new Failure('ERR Second argument must be numeric')
    if (!call.server.registry.adopt) return UNABLE
    const found = bloomAt(call)
    if (found) return found instanceof Failure ? found : new Failure('ERR item exists')
    const { dumps } = call.server
    const name = call.name(1)
    if (iterator === 1) {
      await dumps.load(name, call.bytes(3))
      return OK
    }
    const whole = await dumps.take(name, iterator, call.bytes(3))
    return whole ? adopt(call, name, whole) : OK
  },
}

async function adopt(
  call: Call,
  name: string,
  whole: NonNullable<Awaited<ReturnType<typeof call.server.dumps.take>>>,
): Promise<Reply> {
  try {
    await call.server.registry.adopt!(name, whole.path, whole.bloom)
    return OK
  } catch (error) {
    if (error instanceof SieveError && error.code === 'memory') throw error
    const why = error instanceof Error ? error.message.replace(whole.path, 'it') : ''
    return new Failure(`ERR received bad data: ${why}`)
  } finally {
    call.server.dumps.loaded(name)
  }
}

export const dumpCommands: readonly Command[] = [scandump, loadchunk]
