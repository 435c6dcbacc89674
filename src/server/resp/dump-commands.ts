// BF.SCANDUMP and BF.LOADCHUNK as in RedisBloom, and BF.LOAD as in valkey-bloom, with chunks of the .sieve file format.
import { SieveError } from '../../errors.ts'
import type { ServedSieve } from '../registry.ts'
import { bloomAt, existingAt } from './bloom-filters.ts'
import { type Call, type Command, definePlain, wholeOf } from './command.ts'
import { Failure, OK, type Reply } from './replies.ts'

const UNABLE = new Failure('ERR this server keeps its filters elsewhere: it can neither dump nor load them')
/** RedisBloom's answer to a chunk that does not belong to the filter of that name. */
const NO_LINK = new Failure('ERR invalid offset - no link found')
const BUSY = new Failure('BUSYKEY Target key name already exists.')

const scandump = definePlain({
  name: 'BF.SCANDUMP',
  syntax: 'key iterator:integer',
  does: 'Returns a filter in chunks, from iterator 0 on',
  returns: 'the next iterator and a chunk; 0 and nothing after the last',
  group: 'bf',
  flags: ['readonly'],
  async run(call) {
    const found = existingAt(call)
    if (found instanceof Failure) return found
    const iterator = wholeOf(call.text(2))
    if (iterator === null) return new Failure('Second argument must be numeric')
    if (!found.dump) return UNABLE
    const { dumps } = call.server
    const { next, bytes } = await (iterator === 0 ? dumps.begin(found) : dumps.next(found, iterator))
    return [next, bytes]
  },
})

const loadchunk = definePlain({
  name: 'BF.LOADCHUNK',
  syntax: 'key iterator:integer data',
  does: 'Restores a filter from its chunks',
  returns: 'OK',
  group: 'bf',
  flags: ['write', 'denyoom'],
  async run(call) {
    const iterator = wholeOf(call.text(2))
    if (iterator === null) return new Failure('ERR Second argument must be numeric')
    if (!call.server.registry.adopt) return UNABLE
    const { dumps } = call.server
    const found = bloomAt(call)
    if (found instanceof Failure) return found
    if (found) return dumps.isLast(found, iterator, call.bytes(3)) ? OK : NO_LINK
    const name = call.name(1)
    if (iterator === 1) {
      await dumps.load(name, call.bytes(3))
      return OK
    }
    const chunk = call.bytes(3)
    const whole = await dumps.take(name, iterator, chunk)
    return whole ? adopt(call, whole, (created) => dumps.completed(created, iterator, chunk)) : OK
  },
})

/** BF.LOAD: the chunks of a dump in one argument. */
export async function loadWhole(call: Call): Promise<Reply> {
  if (!call.server.registry.adopt) return UNABLE
  const found = bloomAt(call)
  if (found) return found instanceof Failure ? found : BUSY
  const { dumps } = call.server
  const data = call.bytes(2)
  const name = call.name(1)
  const end = data.indexOf('}}') + 2 // of the first chunk, which is JSON
  try {
    await dumps.load(name, data.subarray(0, end))
    const chunk = data.subarray(end)
    const whole = await dumps.take(name, chunk.length + 1, chunk)
    if (whole) return await adopt(call, whole, () => {})
  } catch (error) {
    if (error instanceof SieveError && (error.code === 'memory' || error.code === 'disk')) throw error
  }
  dumps.loaded(name)
  return new Failure('ERR bloom object decoding failed')
}

async function adopt(
  call: Call,
  whole: NonNullable<Awaited<ReturnType<typeof call.server.dumps.take>>>,
  then: (created: ServedSieve) => void,
): Promise<Reply> {
  const name = call.name(1)
  try {
    then(await call.server.registry.adopt!(name, whole.path, whole.bloom))
    return OK
  } catch (error) {
    if (error instanceof SieveError && error.code === 'memory') throw error
    // Errors about a file quote it: they could show what someone else sent.
    const isQuote = !(error instanceof SieveError) || error.code === 'corrupt'
    const why = isQuote ? 'it is damaged, or no dump of BF.SCANDUMP' : error.message.replace(whole.path, 'it')
    return new Failure(`ERR received bad data: ${why}`)
  } finally {
    call.server.dumps.loaded(name)
  }
}

export const dumpCommands: readonly Command[] = [scandump, loadchunk]
