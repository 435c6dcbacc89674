// The last arguments of a command as items of a batch.
import type { Items } from '../../index.ts'
import type { Call } from './command.ts'

/** A copy, good while the command waits. */
export function itemsFrom(call: Call, from: number): Items {
  const parts = Array.from({ length: call.count - from }, (_, i) => call.bytes(from + i))
  const starts = new Uint32Array(parts.length)
  const ends = new Uint32Array(parts.length)
  let at = 0
  for (const [i, part] of parts.entries()) {
    starts[i] = at
    at += part.length
    ends[i] = at
  }
  return { bytes: Buffer.concat(parts), starts, ends }
}

/** The last arguments as text; null when one is no UTF-8. */
export function textsFrom(call: Call, from: number): string[] | null {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  try {
    return Array.from({ length: call.count - from }, (_, i) => decoder.decode(call.bytes(from + i)))
  } catch {
    return null
  }
}
