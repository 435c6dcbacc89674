// `urlsieve learn` and its rules in other commands; limits by shape in `dedupe` and `explain`.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { EXIT } from '../../src/cli/exit.ts'
import { expectFailure, expectQuiet, linesOf, temporaryFolder, urlsieve } from './command.ts'

const folder = temporaryFolder()
const pages = join(folder, 'pages.tsv')
const rules = join(folder, 'site.rules.json')
const line = (i: number) => `https://a.example/p${i % 500}?sid=${i}\tdigest${i % 500}`
writeFileSync(pages, `${Array.from({ length: 2000 }, (_, i) => line(i)).join('\n')}\nnothing\n`)

it('learns rules, checks them, and they are a profile', async () => {
  const learned = await urlsieve(['learn', pages, '-o', rules])
  expect(learned.code).toBe(0)
  expect(learned.stderr).toBe('urlsieve: 1 line has no URL with a digest and was left out\n')
  expect(learned.stdout.toString()).toMatch(
    /drops sid on a\.example for \d+ known pages +\d[\d,]* +\d+ URLs +0 +0\.\d\d %/,
  )
  const checked = await urlsieve(['learn', '--check', rules, '-'], { input: readFileSync(pages) })
  expect(checked.code).toBe(0)
  expect(checked.stdout.toString()).toMatch(
    /^2,000 pages: 1,\d\d\d fetches saved by 1 rule\n1,\d\d\d merges right, 0 wrong/,
  )
  const wrong = Array.from({ length: 50 }, (_, i) => `https://a.example/p1?sid=${i}\t${i}`).join('\n')
  const refuted = await urlsieve(['learn', '--check', rules], { input: wrong })
  expect(refuted.code).toBe(1)
  expect(refuted.stdout.toString()).toContain('0 merges right, 49 wrong')
  const input = 'https://a.example/p1?sid=1\nhttps://a.example/p1?sid=2\nhttps://b.example/p1?sid=2\n'
  const deduped = await urlsieve(['dedupe', '--profile', rules], { input })
  expectQuiet(deduped)
  expect(linesOf(deduped.stdout)).toEqual(['https://a.example/p1?sid=1', 'https://b.example/p1?sid=2'])
  const explained = await urlsieve(['explain', '--profile', rules, 'https://a.example/p1?sid=1'])
  expect(explained.stdout.toString()).toMatch(/learned: 0 of \d+ URLs kept apart had a wrong merge/)
})

it('mistakes are one line', async () => {
  expectFailure(
    await urlsieve(['dedupe', '--profile', join(folder, 'no.json')]),
    EXIT.input,
    /cannot read .*no\.json/,
  )
  expectFailure(
    await urlsieve(['dedupe', '--profile', 'nope']),
    EXIT.usage,
    /nope.*Allowed choices are raw, whatwg/,
  )
  const damaged = join(folder, 'damaged.json')
  writeFileSync(damaged, '{"format":"x"}')
  expectFailure(
    await urlsieve(['explain', '--profile', damaged, 'x']),
    EXIT.input,
    /damaged\.json: format x: expected/,
  )
  expectFailure(
    await urlsieve(['dedupe', '--dropped', 'x'], { input: '' }),
    EXIT.usage,
    /--dropped needs a limit/,
  )
  expectFailure(
    await urlsieve(['dedupe', '--assets', 'x'], { input: '' }),
    EXIT.usage,
    /--assets x: expected skip/,
  )
  expectFailure(
    await urlsieve(['dedupe', '--strip', 'x'], { input: '' }),
    EXIT.usage,
    /strip 'x': expected host\/path=name/,
  )
})

it('dedupe with limits: a sample, the drops listed and counted', async () => {
  const dropped = join(folder, 'dropped.tsv')
  const urls = Array.from({ length: 20 }, (_, i) => `https://a.example/post/${i % 15}`)
  const input = `${urls.join('\n')}\nhttps://a.example/x.png\nhttps://a.example/`
  const args = ['--keep-per-shape', '3', '--assets', 'skip', '--dropped', dropped, '--stats']
  const ended = await urlsieve(['dedupe', ...args], { input })
  expect(ended.code).toBe(0)
  expect(linesOf(ended.stdout)).toEqual([...urls.slice(0, 3), 'https://a.example/'])
  expect(JSON.parse(ended.stderr)).toMatchObject({
    lines: 22,
    new: 17,
    dropped: { keepPerShape: 12, assets: 1 },
  })
  const list = readFileSync(dropped, 'utf8').trim().split('\n')
  expect(list).toHaveLength(13)
  expect(list[0]).toBe('keepPerShape\tits shape has 3 URLs, of 3 to keep\thttps://a.example/post/3')
})

it('dedupe --strip and explain with limits', async () => {
  const input =
    'https://a.example/w/x?rev=1&a=1\nhttps://a.example/w/x?rev=2&a=1\nhttps://b.example/w/x?rev=2\n'
  const ended = await urlsieve(['dedupe', '--strip', 'a.example/w/*=rev'], { input })
  expectQuiet(ended)
  expect(linesOf(ended.stdout)).toHaveLength(2)
  const explained = await urlsieve([
    'explain',
    '--keep-per-shape',
    '1',
    'https://a.example/1',
    'https://a.example/2',
  ])
  expect(explained.stdout.toString()).toContain('dropped  keepPerShape: its shape has 1 URL, of 1 to keep')
})

it('limits judge the keys of a stored sieve by its own profile', async () => {
  const state = join(folder, 'stored')
  await urlsieve(['dedupe', '--state', state, '--profile', 'aggressive'], { input: 'https://a.example/\n' })
  // As they are, the URLs have a session each; their keys have none.
  const urls = Array.from({ length: 90 }, (_, i) => `https://a.example/p${i}?PHPSESSID=a1b2c3d4e5f6${i}`)
  const ended = await urlsieve(['dedupe', '--state', state, '--keep-per-trap', '50'], {
    input: urls.join('\n'),
  })
  expectQuiet(ended)
  expect(linesOf(Buffer.concat([ended.stdout, Buffer.from('\n')])).filter(Boolean)).toHaveLength(90)
})
