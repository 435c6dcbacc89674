// Creates the sieve that a command adds to, if there is none.
import { SieveError } from '../../errors.ts'
import type { Purpose, ServedSieve } from '../registry.ts'
import type { Call } from './command.ts'

/** The sieve of this name, created for this purpose, with memory for `items`. Concurrent calls get the same one. */
export async function obtain(call: Call, purpose: Purpose, items: number): Promise<ServedSieve> {
  const { registry } = call.server
  const name = call.name(1)
  let created: ServedSieve
  try {
    created = await registry.create(name, {}, purpose, true)
  } catch (error) {
    const there = registry.get(name)
    if (there && (there.kind === 'bloom') === (purpose !== 'set')) return there
    throw error
  }
  try {
    // A client that has gone gets no answer, and its items are not added.
    if (call.client.isClosed) throw new SieveError('network', 'the client has disconnected')
    created.reserve?.(items)
    return created
  } catch (error) {
    // The items will be refused: do not leave an empty sieve behind.
    await registry.drop(name)
    throw error
  }
}
