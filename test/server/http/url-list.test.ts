// The reader of {"urls": […]} agrees with JSON.parse on everything it takes, and takes nothing that is not valid.
import { expect, test } from 'vitest'
import { draws } from '../../../src/lab/random.ts'
import { HTTP_LIMITS } from '../../../src/server/http/limits.ts'
import { UrlLists } from '../../../src/server/http/url-list.ts'

const lists = new UrlLists(HTTP_LIMITS)

function read(body: string | Buffer): string[] | null {
  const items = lists.read(Buffer.from(body as string))
  if (!items) return null
  return Array.from(items.starts, (start, i) =>
    Buffer.from(items.bytes.subarray(start, items.ends[i])).toString(),
  )
}

test('what is plain is read as JSON.parse reads it', () => {
  const bodies = [
    '{"urls":[]}',
    '  { "urls" :  [ ] }  ',
    '{"urls":[""]}',
    '{"urls":["https://a/","https://b/?q=é,]}{:"]}',
    '{"urls" : [ "a" , "b"  ,"c" ] }',
    JSON.stringify({ urls: Array.from({ length: 5000 }, (_, i) => `https://example.com/${i}/😀`) }),
  ]
  for (const body of bodies) expect(read(body)).toEqual(JSON.parse(body).urls)
})

test('escapes, line breaks, other names and other things are left to JSON.parse', () => {
  for (const body of [
    '{"urls":["a\\n"]}',
    '{"urls":\n["a"]}',
    '{"urls":["a\u0001"]}',
    '{"urls":["\\u0041"]}',
    '{"url":["a"]}',
    '{"urls":["a"],"x":1}',
    '{"urls":["a",1]}',
    '{"urls":"a"}',
    '[]',
    '',
  ]) {
    expect(read(body)).toBeNull()
  }
  for (const bytes of [[0xff], [0xc3], [0xed, 0xa0, 0x80]]) {
    expect(
      read(Buffer.concat([Buffer.from('{"urls":["'), Buffer.from(bytes), Buffer.from('"]}')])),
    ).toBeNull()
  }
})

test('200,000 bodies with bytes changed, dropped or doubled: what it takes, JSON.parse takes the same', () => {
  const draw = draws(6, 'bodies')
  const pick = (n: number) => draw() % n
  const letters = '"\\,[]{}: \n\t\u0000ulrsx1é'
  let taken = 0
  for (let i = 0; i < 200_000; i++) {
    let body = JSON.stringify({ urls: Array.from({ length: pick(4) }, () => 'https://a/'.slice(pick(11))) })
    for (let changes = pick(3); changes > 0; changes--) {
      const at = pick(body.length + 1)
      const letter = letters[pick(letters.length)]!
      body = body.slice(0, at) + (pick(3) === 0 ? '' : letter) + body.slice(at + pick(2))
    }
    const found = read(body)
    if (found === null) continue
    taken++
    if (JSON.stringify(JSON.parse(body)) !== JSON.stringify({ urls: found })) expect(body).toBe(found)
  }
  expect(taken).toBeGreaterThan(50_000)
})

test('the limits of URLs and of their bytes', () => {
  const small = new UrlLists({ ...HTTP_LIMITS, urlsPerRequest: 2, urlBytes: 4 })
  const body = (...urls: string[]) => Buffer.from(JSON.stringify({ urls }))
  expect(small.read(body('abcd', 'éé'))?.starts.length).toBe(2)
  expect(() => small.read(body('a', 'b', 'c'))).toThrow('more than 2 URLs: send fewer')
  expect(() => small.read(body('a', 'éée'))).toThrow('body/urls/1: 5 bytes; expected at most 4')
  expect(() => small.encode(['a', 'b', 'c'])).toThrow('more than 2 URLs')
  expect(() => small.encode(['éée'])).toThrow('body/urls/0: 5 bytes')
})

test('strings become the same items', () => {
  const urls = ['', 'https://a/é', '😀', 'b']
  const { bytes, starts, ends } = lists.encode(urls)
  expect(Array.from(starts, (start, i) => Buffer.from(bytes.subarray(start, ends[i])).toString())).toEqual(
    urls,
  )
})

test('a byte below the space is found wherever it is, however the body lies in memory', () => {
  for (let offset = 0; offset < 5; offset++) {
    const memory = Buffer.alloc(64, 0x1f)
    const text = '{"urls":["https://é/ÿ"]}'
    const body = memory.subarray(offset, offset + Buffer.byteLength(text))
    body.write(text)
    expect(read(body)).toEqual(['https://é/ÿ'])
    expect(lists.read(body)).not.toBeNull()
    for (let at = 0; at < body.length; at++) {
      const was = body[at]!
      for (const control of [0x00, 0x09, 0x0a, 0x1f]) {
        body[at] = control
        expect(lists.read(body)).toBeNull()
      }
      body[at] = was
    }
  }
})
