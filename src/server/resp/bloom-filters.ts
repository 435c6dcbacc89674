// What the BF.* commands of both dialects share: finding a filter or creating it, adding to it, and how it would have grown.
import { SieveError } from '../../errors.ts'
import { asideOf } from '../faults.ts'
import { countAdds } from '../meters.ts'
import type { BloomSpec, ServedSieve } from '../registry.ts'
import { type Call, failureOf, NOT_FOUND, WRONG_TYPE } from './command.ts'
import { Failure, type Reply, Verdicts } from './replies.ts'

/** The parameters for a filter that an add creates, of both dialects. */
export const DEFAULTS: BloomSpec = { capacity: 100, errorRate: 0.01, expansion: 2 }
export const MOST_CAPACITY = 2 ** 30

/** The Bloom filter that the call names; undefined when there is none. */
export function bloomAt(call: Call): ServedSieve | Failure | undefined {
  const { registry } = call.server
  const name = call.name(1)
  const sieve = registry.get(name)
  if (sieve) return sieve.kind === 'bloom' ? sieve : WRONG_TYPE
  const aside = asideOf(registry.faults, name)
  return aside === undefined ? undefined : new Failure(`ERR ${aside}`)
}

/** The Bloom filter that the call names, or the error that there is none. */
export const existingAt = (call: Call): ServedSieve | Failure => bloomAt(call) ?? NOT_FOUND

/** A number as C parses it; null for anything else. */
export function rateOf(text: string): number | null {
  const value = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i.test(text) ? Number(text) : Number.NaN
  return Number.isNaN(value) ? null : value
}

/** Whether a filter that does not grow is full. */
export const isFull = (error: unknown) => error instanceof SieveError && error.code === 'full'

/** Adds the arguments from `from` on. An array of verdicts, which ends with the error when one of them fails. */
export async function addAll(
  sieve: ServedSieve,
  call: Call,
  from: number,
  form = call.server.dialect.form,
): Promise<Reply> {
  const items = call.items(from)
  const { dialect } = call.server
  const replyFor = (verdicts: Uint8Array, failure?: Failure): Reply => {
    countAdds(sieve.meters, verdicts)
    return new Verdicts(verdicts, form, failure)
  }
  try {
    return replyFor(await (dialect.isWhole && sieve.addWhole ? sieve.addWhole(items) : sieve.add(items)))
  } catch (error) {
    const failure = failureOf(error)
    if (dialect.isWhole && isFull(error)) return failure
    return replyFor((error as { answered?: Uint8Array }).answered ?? new Uint8Array(0), failure)
  }
}

/** Capacity and sub-filters as RedisBloom would report them for this expansion and number of items. */
export function growth(
  { capacity, expansion }: BloomSpec,
  items: number,
): { capacity: number; filters: number } {
  let [total, next, filters] = [capacity, capacity, 1]
  while (items > total && expansion > 0) {
    next *= expansion
    // With an expansion of 1 there may be millions of sub-filters: they are counted in one step.
    const times = expansion === 1 ? Math.ceil((items - total) / next) : 1
    total += next * times
    filters += times
  }
  return { capacity: total, filters }
}
