// A plan that keeps its promise, or one clear line: a rate and a size that do not go together are refused.
import { invalidOption, option, SieveError, wording } from '../errors.ts'
import type { AnyKind, FilterOptions, Plan } from './filter.ts'

/** Formulas and whole numbers of bits leave this much between what is asked and what is planned. */
const TOLERANCE = 1.001

/** The filter's plan for these options. */
export function planFor(kind: AnyKind, options: FilterOptions): Plan {
  if (kind.can.grow && options.sizeBytes !== undefined) {
    throw new SieveError(
      'option',
      wording`${option('sizeBytes')} ${options.sizeBytes}: filter '${kind.name}' grows as it needs; leave it out or use a filter of a fixed size`,
      { option: 'sizeBytes', got: options.sizeBytes, expected: 'no sizeBytes' },
    )
  }
  const plan = kind.plan(options)
  const { falsePositiveRate: asked, sizeBytes, bits } = options
  const advice = `filter '${kind.name}' needs that much for ${plan.expectedUrls} URLs`
  if (kind.refusesWhenFull && sizeBytes !== undefined && plan.sizeBytes > sizeBytes) {
    throw invalidOption('sizeBytes', sizeBytes, `at least ${plan.sizeBytes}`, advice)
  }
  if (kind.refusesWhenFull && bits !== undefined && plan.bits! > bits) {
    throw invalidOption('bits', bits, `at least ${plan.bits}`, advice)
  }
  if (asked !== undefined && plan.expectedRate !== null && plan.expectedRate > asked * TOLERANCE) {
    const got = plan.expectedRate.toPrecision(2)
    const size = sizeBytes ?? plan.sizeBytes
    throw new SieveError(
      'option',
      wording`${option('falsePositiveRate')} ${asked} with ${size} bytes: that size gives ${got}; leave one of the two out`,
      { option: 'falsePositiveRate', got: asked, expected: `at least ${got}` },
    )
  }
  return plan
}
