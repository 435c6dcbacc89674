// Options that a filter does not take, and invalid values: refused in one line that names the option, for every filter.
import { describe, expect, it } from 'vitest'
import type { AnyKind, FilterOptions } from '../../src/filters/filter.ts'
import { planFor } from '../../src/filters/plan.ts'
import { allKinds, filterKind } from '../../src/filters/registry.ts'
import { Sieve, SieveError, type SieveOptions } from '../../src/index.ts'
import { filterOptions } from '../../src/sieve-options.ts'

function refusal(kind: AnyKind, options: object): SieveError {
  try {
    planFor(kind, options as FilterOptions, ['siphash'])
  } catch (error) {
    expect(error).toBeInstanceOf(SieveError)
    expect((error as SieveError).message).toMatch(/^[^\n]+$/)
    return error as SieveError
  }
  throw new Error('not refused')
}

describe.each(allKinds.map((kind) => [kind.name, kind] as const))('%s', (name, kind) => {
  it('lists each option once, and all of them are known to the command and the server', () => {
    const names = kind.options.map((option) => option.name)
    expect(new Set(names).size).toBe(names.length)
    for (const option of kind.options) expect(filterOptions.map((one) => one.name)).toContain(option.name)
  })

  it('refuses every option of other filters', () => {
    const own = new Set(kind.options.map((option) => option.name))
    for (const option of filterOptions) {
      if (own.has(option.name) || option.name === 'sizeBytes') continue
      const error = refusal(kind, { [option.name]: 5 })
      expect(error).toMatchObject({ code: 'option', option: option.name, got: 5 })
      expect(error.message).toContain(`${option.name} 5: filter '${name}' does not take it; expected one of `)
      for (const one of kind.options) expect(error.expected).toContain(one.name)
    }
    expect(refusal(kind, { expectedUrl: 5 }).message).toMatch(/^expectedUrl 5: filter '.*' does not take it/)
  })

  it('refuses invalid values of its own', () => {
    for (const { name: option } of kind.options) {
      for (const got of [Number.NaN, -1, '', {}, null]) {
        const error = refusal(kind, { [option]: got })
        expect(error).toMatchObject({ code: 'option', option })
        expect(error.got).toBe(got)
        expect(error.message).toMatch(new RegExp(`^${option} .*: expected `))
      }
    }
  })

  it('passes over options that are undefined', () => {
    const all = Object.fromEntries(filterOptions.map((option) => [option.name, undefined]))
    try {
      planFor(kind, all as FilterOptions, ['siphash'])
    } catch (error) {
      expect((error as SieveError).message).toMatch(/fixed size|no limit|frozen/)
    }
  })
})

it('a filter that grows names the reason why it takes no size', () => {
  expect(refusal(filterKind('fingerprint'), { sizeBytes: 1024 }).message).toBe(
    "sizeBytes 1024: filter 'fingerprint' grows as it needs; leave it out or use a filter of a fixed size",
  )
})

it('spellings that two options share are listed once', () => {
  const error = refusal(filterKind('window'), { layers: 2 })
  expect(error.message.match(/windowMs|windowUrls/g)).toEqual(['windowMs'])
})

it('a stored sieve refuses them too', async () => {
  const made = Sieve.open('/nowhere/never', {
    filter: 'classic',
    expectedUrls: 9,
    windowMs: 5,
  } as unknown as SieveOptions)
  await expect(made).rejects.toBeInstanceOf(SieveError)
})
