// The path of a URL as text, and how often its segments come up.
import { split } from '../canonical/parts.ts'

export const pathOf = (url: string) => split(url).path

/** The segment that comes up most often in a path, and how often. */
export function segmentRepeats(path: string): { segment: string; times: number } {
  const counts = new Map<string, number>()
  let segment = ''
  let times = 0
  for (const one of path.split('/')) {
    if (one === '') continue
    const count = (counts.get(one) ?? 0) + 1
    counts.set(one, count)
    if (count > times) [segment, times] = [one, count]
  }
  return { segment, times }
}
