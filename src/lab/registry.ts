// The experiments, in the order of the report: the papers', then ours. A new one is a file and a line here.
import { SieveError } from '../errors.ts'
import type { Experiment } from './experiment.ts'
import { adversary } from './experiments/adversary.ts'
import { baselines } from './experiments/baselines.ts'
import { cen2010 } from './experiments/cen2010/experiment.ts'
import { crawlLoss } from './experiments/crawl-loss.ts'
import { equalMemory } from './experiments/equal-memory.ts'
import { growth } from './experiments/growth.ts'
import { hashes } from './experiments/hashes.ts'
import { jiang } from './experiments/jiang/experiment.ts'
import { layering } from './experiments/layering.ts'
import { sharma } from './experiments/sharma/experiment.ts'
import { termProject } from './experiments/term-project/experiment.ts'
import { urlCache } from './experiments/url-cache/experiment.ts'
import { valueBits } from './experiments/value-bits.ts'
import { xorOrder } from './experiments/xor-order.ts'

export const experiments: readonly Experiment[] = [
  cen2010,
  termProject,
  sharma,
  jiang,
  urlCache,
  baselines,
  equalMemory,
  hashes,
  crawlLoss,
  growth,
  xorOrder,
  layering,
  adversary,
  valueBits,
]

/** The experiments of these names, in the order named; all of them for no names. */
export function choose(names: readonly string[], from: readonly Experiment[] = experiments): Experiment[] {
  if (names.length === 0) return [...from]
  return [...new Set(names)].map((name) => {
    const found = from.find((experiment) => experiment.name === name)
    if (found) return found
    const known = from.map((experiment) => experiment.name).join(', ')
    throw new SieveError('option', `no experiment '${name}': expected one of ${known}`)
  })
}
