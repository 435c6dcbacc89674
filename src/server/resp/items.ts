// The last arguments of a command, as items of a batch or as text.
import type { Items } from '../../index.ts'
import { Pace } from '../../store/pace.ts'
import type { Call } from './command.ts'

/** A copy, so that the command may wait. */
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

/** The last arguments as text; null when one is not UTF-8. Other clients are served meanwhile. */
export async function textsFrom(call: Call, from: number): Promise<string[] | null> {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  try {
    const pace = new Pace()
    const texts: string[] = []
    for (let i = from; i < call.count; i++) {
      texts.push(decoder.decode(call.bytes(i)))
      if (i % 1024 === 0) await pace.rest()
    }
    return texts
  } catch {
    return null
  }
}
