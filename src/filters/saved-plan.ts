// A plan that was read from a file, checked before anything is made of it: a wrong number must become neither memory nor
// a loop. What is wrong is a RangeError; whoever reads the file names the file.
import { INSTANCE_BYTES } from '../kernel.ts'
import type { Plan } from './filter.ts'

/** The most hashes per URL that the kernel has room for. */
const MOST_HASHES = 64
const MOST_BITS = 2 ** 48
/** More URLs, lines or generations than anything has counted: sums of some of them are whole numbers too. */
export const MOST_COUNT = 2 ** 48

const shown = (value: unknown): string => {
  const text = JSON.stringify(value) ?? String(value)
  return text.length > 40 ? `${text.slice(0, 40)}…` : text
}

/** Throws unless a field is as expected. */
export function checkField(name: string, value: unknown, ok: boolean, expected: string): void {
  if (!ok) throw new RangeError(`${name} ${shown(value)}: expected ${expected}`)
}

/** A whole number within bounds; returns it. */
export function savedWhole(name: string, value: unknown, least: number, most: number): number {
  const ok = Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most
  checkField(name, value, ok, `a whole number from ${least} to ${most}`)
  return value as number
}

/** A field that follows from others. */
export function checkFollows(name: string, value: unknown, expected: number): void {
  checkField(name, value, value === expected, String(expected))
}

/** Any object, not a list. */
export function savedObject(name: string, value: unknown): Record<string, unknown> {
  const ok = typeof value === 'object' && value !== null && !Array.isArray(value)
  checkField(name, value, ok, 'an object')
  return value as Record<string, unknown>
}

const isRate = (value: unknown) => typeof value === 'number' && value >= 0 && value <= 1
const isAmount = (value: unknown) => typeof value === 'number' && Number.isFinite(value) && value >= 0

/** The fields that every plan has. Those that shape the filter are checked by the filter's own `arrayBytes`. */
export function savedPlan(value: unknown, filter: string): Plan {
  const plan = savedObject('plan', value)
  checkField('plan.filter', plan.filter, plan.filter === filter, `"${filter}"`)
  const urls = plan.expectedUrls
  if (urls !== null) savedWhole('plan.expectedUrls', urls, 0, Number.MAX_SAFE_INTEGER)
  for (const name of ['promisedRate', 'expectedRate']) {
    checkField(`plan.${name}`, plan[name], plan[name] === null || isRate(plan[name]), 'a rate or null')
  }
  checkField('plan.sizeBytes', plan.sizeBytes, isAmount(plan.sizeBytes), 'a number of bytes')
  const perUrl = plan.bitsPerUrl
  checkField('plan.bitsPerUrl', perUrl, perUrl === null || isAmount(perUrl), 'a number of bits or null')
  if (plan.bits !== null) savedWhole('plan.bits', plan.bits, 0, MOST_BITS)
  if (plan.hashes !== null) savedWhole('plan.hashes', plan.hashes, 1, MOST_HASHES)
  if (plan.shape !== undefined) savedObject('plan.shape', plan.shape)
  return plan as unknown as Plan
}

/** The bits and hashes of a filter that has both. */
export function savedBits({ bits, hashes }: Plan): { bits: number; hashes: number } {
  return {
    bits: savedWhole('plan.bits', bits, 1, MOST_BITS),
    hashes: savedWhole('plan.hashes', hashes, 1, MOST_HASHES),
  }
}

/** A number of hashes in the shape of a filter. */
export const savedHashes = (name: string, value: unknown): number => savedWhole(name, value, 1, MOST_HASHES)

/** A number of bits in the shape of a filter. */
export const savedSize = (name: string, value: unknown): number => savedWhole(name, value, 1, MOST_BITS)

/** Bytes of `shards` shares of `bytes` each; throws when a share is more than an instance can hold. */
export function shareBytes(bytes: number, shards: number): number {
  checkField(
    'a filter of bytes',
    bytes,
    bytes < INSTANCE_BYTES,
    `less than ${INSTANCE_BYTES} in one instance`,
  )
  return bytes * shards
}

/**
 * Throws unless a plan of `count` filters is about as large as `count` times the plan that today's formulas give: later
 * formulas may differ a little from those that a file was made with.
 */
export function checkNear(plan: Plan, one: Plan, count: number): void {
  for (const name of ['bits', 'sizeBytes'] as const) {
    const value = plan[name]
    const expected = one[name] === null ? null : one[name] * count
    const isNear =
      value === null || expected === null
        ? value === expected
        : value <= expected * 2 + 1024 && expected <= value * 2 + 1024
    checkField(`plan.${name}`, value, isNear, `about ${expected}, which follows from plan.shape`)
  }
}
