// From the samples of a server run: the rate of each load as median and extremes, and the run with many connections.

import { spread } from './summary.mjs'

const crowdCase = 'server/256 connections'

export function serverSummary(samples) {
  const all = new Map()
  for (const { case: id, perSecond } of samples) {
    if (id === crowdCase) continue
    const name = id.replace('server/', '')
    all.set(name, [...(all.get(name) ?? []), perSecond])
  }
  const rates = new Map([...all].map(([name, values]) => [name, spread(values)]))
  return { rates, crowd: samples.find(({ case: id }) => id === crowdCase) }
}
