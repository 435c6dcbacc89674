// A plan that keeps its promise: options that a filter does not take, invalid values, and a rate and a size that do not go
// together are refused.
import { invalidOption, option, SieveError, showValue, Wording, wording } from '../errors.ts'
import type { HashName } from '../hashes.ts'
import { checkOption } from '../options/option.ts'
import type { AnyKind, FilterOptions, Plan } from './filter.ts'
import { hashPromise, keptPromise } from './promise.ts'

/** Formulas and whole numbers of bits leave this much between what is requested and what is planned. */
const TOLERANCE = 1.001

/** The filter's plan for these options, its own only, with a hash. */
export function planFor(kind: AnyKind, options: FilterOptions, hash: readonly HashName[]): Plan {
  checkOptions(kind, options)
  const plan = kind.plan(options)
  checkHash(kind, options, plan, hash)
  const { falsePositiveRate: promised, sizeBytes, bits } = options
  const advice = `filter '${kind.name}' needs that much for ${plan.expectedUrls} URLs`
  if (kind.refusesWhenFull && sizeBytes !== undefined && plan.sizeBytes > sizeBytes) {
    throw invalidOption('sizeBytes', sizeBytes, `at least ${plan.sizeBytes}`, advice)
  }
  if (kind.refusesWhenFull && bits !== undefined && plan.bits! > bits) {
    throw invalidOption('bits', bits, `at least ${plan.bits}`, advice)
  }
  if (promised !== undefined && plan.expectedRate !== null && plan.expectedRate > promised * TOLERANCE) {
    const got = plan.expectedRate.toPrecision(2)
    const size = sizeBytes ?? plan.sizeBytes
    throw new SieveError(
      'option',
      wording`${option('falsePositiveRate')} ${promised} with ${size} bytes: that size gives ${got}; leave one of the two out`,
      { option: 'falsePositiveRate', got: promised, expected: `at least ${got}` },
    )
  }
  return keptPromise(kind, plan, hash)
}

// The papers' filters take any hash, and a size without a rate promises none.
function checkHash(kind: AnyKind, options: FilterOptions, plan: Plan, hash: readonly HashName[]): void {
  const fault = hashPromise(kind, plan, hash)
  const isSized = options.bits !== undefined || options.sizeBytes !== undefined
  const isKnowing = kind.takes !== 'hashes' && isSized && options.falsePositiveRate === undefined
  if (fault === null || kind.isResearch || isKnowing) return
  throw invalidOption(
    'hash',
    hash.join(','),
    'siphash or xxh64',
    `${fault}: filter '${kind.name}' cannot keep its rate`,
  )
}

function checkOptions(kind: AnyKind, options: FilterOptions): void {
  const given = Object.entries(options).filter(([, value]) => value !== undefined)
  if (kind.can.grow && options.sizeBytes !== undefined) throw growsAsNeeded(kind, options.sizeBytes)
  const described = (name: string) => kind.options.find((one) => one.name === name)
  const foreign = given.find(([name]) => !described(name))
  if (foreign) throw notTaken(kind, foreign[0], foreign[1])
  for (const [name, value] of given) checkOption(described(name)!, value)
  if (options.sizeBytes !== undefined && options.bits !== undefined) {
    throw new SieveError(
      'option',
      wording`both ${option('sizeBytes')} and ${option('bits')} are given: expected one of them`,
      { option: 'sizeBytes', got: options.sizeBytes, expected: 'one of sizeBytes and bits' },
    )
  }
}

const growsAsNeeded = (kind: AnyKind, got: unknown) =>
  new SieveError(
    'option',
    wording`${option('sizeBytes')} ${showValue(got)}: filter '${kind.name}' grows as it needs; leave it out or use a filter of a fixed size`,
    { option: 'sizeBytes', got, expected: 'no sizeBytes' },
  )

function notTaken(kind: AnyKind, name: string, got: unknown): SieveError {
  // Options that the edges spell alike are listed once.
  const taken = kind.options.filter((one, i) => kind.options.findIndex(({ flag }) => flag === one.flag) === i)
  const names = new Wording(taken.flatMap((one, i) => [i === 0 ? '' : ', ', option(one.name)]))
  return new SieveError(
    'option',
    wording`${option(name)} ${showValue(got)}: filter '${kind.name}' does not take it; expected one of ${names}`,
    { option: name, got, expected: `one of ${kind.options.map((one) => one.name).join(', ')}` },
  )
}
