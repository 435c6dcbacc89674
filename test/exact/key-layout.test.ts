import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { keyOfLayout, layOut, META_KEY, rangesUnder, schemeOf } from '../../src/exact/key-layout.ts'

const schemes = [
  '',
  'https://',
  'http://',
  'ftp://',
  's://',
  'h://',
  'HTTPS://',
  'https:/',
  '://',
  'a+b.c-1://',
]
const keys = fc
  .tuple(fc.constantFrom(...schemes), fc.uint8Array({ maxLength: 20 }))
  .map(([scheme, rest]) => Buffer.concat([Buffer.from(scheme), rest]))

describe('the layout of a key', () => {
  it('gives the key back, whatever its bytes', () => {
    fc.assert(
      fc.property(keys, (key) => {
        expect(keyOfLayout(layOut(key)).equals(key)).toBe(true)
      }),
    )
  })

  it('is of no other key, and never where the store keeps what it knows of itself', () => {
    fc.assert(
      fc.property(keys, keys, (a, b) => {
        expect(layOut(a).equals(layOut(b))).toBe(a.equals(b))
        expect(layOut(a).compare(META_KEY)).toBe(1)
      }),
    )
  })

  it.each([
    ['https://example.com/a', 'example.com/a\xffs', 'https'],
    ['http://example.com/a', 'example.com/a\xffh', 'http'],
    ['ftp://example.com/a', 'example.com/a\xffftp:', 'ftp'],
    ['example.com/a', 'example.com/a\xff', ''],
    ['', '\xff', ''],
    ['mailto:a@example.com', 'mailto:a@example.com\xff', ''],
    ['https://', '\xffs', 'https'],
  ])('of %j is %j', (key, laid, scheme) => {
    expect(layOut(Buffer.from(key)).toString('latin1')).toBe(laid)
    expect(schemeOf(layOut(Buffer.from(key)))).toBe(scheme)
  })
})

describe('the ranges under a folder', () => {
  const isUnder = (folder: string, key: string) => {
    const laid = layOut(Buffer.from(key))
    const { ranges } = rangesUnder(Buffer.from(folder))
    return ranges.filter(({ gte, lt }) => laid.compare(gte) >= 0 && laid.compare(lt) < 0).length
  }

  it.each([
    ['https://a.example/', 'https://a.example/', 1],
    ['https://a.example/', 'http://a.example/x', 1],
    ['https://a.example/', 'https://a.example.org/x', 0],
    ['https://a.example/', 'https://a.example', 1],
    ['https://a.example/', 'https://a.example?x', 1],
    ['https://a.example/', 'https://a.example:8080/', 0],
    ['https://a.example/blog/', 'https://a.example/blog/', 1],
    ['https://a.example/blog/', 'https://a.example/blog/x/y?z', 1],
    ['https://a.example/blog/', 'https://a.example/blog', 0],
    ['https://a.example/blog/', 'https://a.example/blogger/', 0],
    // A profile dropped the slash of the folder's key:
    ['https://a.example/blog', 'https://a.example/blog', 1],
    ['https://a.example/blog', 'https://a.example/blog?page=2', 1],
    ['https://a.example/blog', 'https://a.example/blog/x', 1],
    ['https://a.example/blog', 'https://a.example/blogger', 0],
  ])('%s: %s in %i of them', (folder, key, count) => {
    expect(isUnder(folder, key)).toBe(count)
  })
})
