// The last arguments of a command as text.
import { Pace } from '../../store/pace.ts'
import type { Call } from './command.ts'

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
