// Long JSON bodies are read in parts, as JSON.parse reads them whole; what is no list of strings is refused.
import { expect, test, vi } from 'vitest'
import { LONG_BYTES, readLongList } from '../../../src/server/http/long-list.ts'
import { turnsOf } from '../turns.ts'

async function read(body: string | Buffer): Promise<string[]> {
  const all: string[] = []
  await readLongList(Buffer.from(body as string), (urls, before) => {
    expect(before).toBe(all.length)
    all.push(...urls)
  })
  return all
}

const odd = (i: number) => `https://example.com/${i}/ä"\\\n\t😀,]}{:${'\\'.repeat(i % 4)}`
const urls = Array.from({ length: 30_000 }, (_, i) => odd(i))

test('escapes, quotes, commas and line breaks, in any layout', async () => {
  for (const body of [
    JSON.stringify({ urls }),
    JSON.stringify({ urls }, null, 2),
    ` \n{ "urls"\t:\r\n[ ${urls.map((url) => JSON.stringify(url)).join(' ,\n')} ]\n}\n `,
    JSON.stringify({ urls }).replaceAll(
      /[^\0-~]/g,
      (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`,
    ),
  ]) {
    expect(body.length).toBeGreaterThan(LONG_BYTES)
    expect(await read(body)).toEqual(urls)
  }
})

test('others are answered meanwhile', async () => {
  const long = JSON.stringify({ urls: [...urls, ...urls, ...urls, ...urls] })
  expect((await turnsOf(() => read(long))).turns).toBeGreaterThan(1)
})

test('anything else is refused in one line', async () => {
  const list = JSON.stringify(urls).slice(1, -1)
  for (const body of [
    `{"url":[${list}]}`,
    `[${list}]`,
    `{"urls":[${list},1]}`,
    `{"urls":[1,${list}]}`,
    `{"urls":[${list},]}`,
    `{"urls":[,${list}]}`,
    `{"urls":[${list} "a"]}`,
    `{"urls":[${list}],"x":1}`,
    `{"urls":[${list}`,
    `{"urls":[${list},"a`,
    `{"urls":[${list},"\u0001"]}`,
    `{"urls":[${list},"\\x"]}`,
    Buffer.concat([Buffer.from(`{"urls":[${list},"`), Buffer.from([0xff]), Buffer.from('"]}')]),
  ]) {
    await expect(read(body)).rejects.toThrow(/^a JSON body of more than 1048576 bytes \(.*\): expected/s)
  }
})

test('what would be parsed in one go, since it has no strings, is refused before it is parsed', async () => {
  const parse = vi.spyOn(JSON, 'parse')
  const many = 2 * LONG_BYTES
  for (const body of [
    `{"urls":[${'1,'.repeat(many)}"a"]}`,
    `{"urls":[${'['.repeat(many)}"a"]}`,
    `{"urls":["a",${' '.repeat(many)}"b"]}`,
    `{"urls":["a"${'\n'.repeat(many)},"b"]}`,
    `{"urls":["a"]${' '.repeat(many)}}`,
  ]) {
    await expect(read(body)).rejects.toThrow(/^a JSON body of more than 1048576 bytes \(.*\): expected/s)
  }
  const longest = Math.max(0, ...parse.mock.calls.map(([text]) => text.length))
  parse.mockRestore()
  expect(longest).toBeLessThan(LONG_BYTES)
})
