// Sites on which a parameter matters on some paths and not on others: pages of half of the paths, and of the other half.
import type { PageRecord } from '../../src/learn/index.ts'
import { randomFrom } from '../support/random.mjs'

export interface Planted {
  readonly seen: PageRecord[]
  readonly unseen: PageRecord[]
  /** Pairs of URLs with the same content, one per path that was seen and on which the parameter does not matter. */
  readonly same: (readonly [string, string])[]
}

export interface PlantedOptions {
  readonly hosts: number
  /** Per host; those with even numbers are seen. */
  readonly paths: number
  readonly items: number
  readonly values: number
  /** The share of the paths on which the parameter matters. */
  readonly matters: number
  /** The URL of an item of a path, without the parameter. */
  url(host: number, path: number, item: number): string
}

export function planted(options: PlantedOptions, seed: number): Planted {
  const { hosts, paths, items, values, matters, url } = options
  const next = randomFrom(seed)
  const result: Planted = { seen: [], unseen: [], same: [] }
  for (let host = 0; host < hosts; host++)
    for (let path = 0; path < paths; path++) {
      const isSeen = path % 2 === 0
      const isChanged = next() < matters
      for (let item = 0; item < items; item++) {
        const own = url(host, path, item)
        const withValue = (value: number) => `${own}${own.includes('?') ? '&' : '?'}v=${value}`
        const digest = (value: number) => (isChanged ? withValue(value) : own)
        for (let i = 0; i < values; i++) {
          const value = Math.floor(next() * 1e9)
          ;(isSeen ? result.seen : result.unseen).push({ url: withValue(value), digest: digest(value) })
        }
        if (isSeen && !isChanged && item === 0) result.same.push([withValue(-1), withValue(-2)])
      }
    }
  return result
}
