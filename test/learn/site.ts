// A seeded site with known content: which parameters, segments and spellings change its pages.
import type { PageRecord } from '../../src/learn/index.ts'
import { randomFrom } from '../support/random.mjs'

/** n URLs with digests. `sid` and `ref` never matter, nor a session in the path, nor an index page's name; the others do. */
export function site(n: number, seed: number, noise = 0): PageRecord[] {
  const next = randomFrom(seed)
  const below = (limit: number) => Math.floor(next() * limit)
  const hex = () => {
    let digits = ''
    for (let i = 0; i < 14; i++) digits += '0123456789abcdef'[below(16)]
    return digits
  }
  const kinds: (() => [string, string])[] = [
    () => {
      const id = below(n / 30)
      return [`/item/${id}?page=${below(2)}&sid=a1${hex()}`, `item ${id}`]
    },
    () => {
      const id = below(n / 30)
      return [next() < 0.3 ? `/news/n${id}` : `/news/n${id}?ref=${below(400)}`, `news ${id}`]
    },
    () => {
      const id = below(n / 30)
      return [`/s/b2${hex()}/doc${id}`, `doc ${id}`]
    },
    () => {
      const id = below(n / 20)
      return [next() < 0.5 ? `/folder${id}/` : `/folder${id}/index.html`, `folder ${id}`]
    },
    () => {
      const id = below(n / 10)
      return [`/wiki/p${id % 20}?rev=${id}`, `wiki ${id}`]
    },
  ]
  const records: PageRecord[] = []
  for (let i = 0; i < n; i++) {
    const [path, content] = kinds[below(kinds.length)]!()
    const page = /page=(\d)/.exec(path)?.[1] ?? ''
    const digest = next() < noise ? `noise ${i}` : `${content} ${page}`
    records.push({ url: `https://site.example${path}`, digest })
  }
  return records
}

/** A site on which every parameter, segment and spelling makes another page. */
export function strictSite(n: number, seed: number): PageRecord[] {
  return site(n, seed).map(({ url }) => ({ url, digest: url }))
}
