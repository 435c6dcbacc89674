// `urlsieve under`: a question, answered in words and by the exit code. URLSIEVE_FULL=1: more URLs.
import { expect, it } from 'vitest'
import { FolderGrowth } from '../../src/cli/folder-growth.ts'
import { expectFailure, expectQuiet, isFull, links, urlsieve } from './command.ts'

it('yes: exit code 0', async () => {
  const ended = await urlsieve([
    'under',
    'shop.example.com',
    'https://docs.example.net/guide/',
    '--in',
    links,
  ])
  expectQuiet(ended)
  expect(ended.stdout.toString()).toBe('yes  shop.example.com\nyes  https://docs.example.net/guide/\n')
})

it('no for one of them: exit code 1', async () => {
  const args = ['under', '--json', 'a.example/x/', 'a.example/y/', 'b.example']
  const ended = await urlsieve(args, { input: 'http://a.example/x/1\nhttp://a.example/z' })
  expect(ended).toMatchObject({ code: 1, stderr: '' })
  const answers = ended.stdout.toString().trimEnd().split('\n')
  expect(answers.map((line) => JSON.parse(line))).toEqual([
    { folder: 'a.example/x/', seen: true },
    { folder: 'a.example/y/', seen: false },
    { folder: 'b.example', seen: false },
  ])
})

it('an input that is missing: exit code 3, no answer', async () => {
  const ended = await urlsieve(['under', 'a.example', '--in', 'missing.txt'])
  expectFailure(ended, 3, /cannot read missing\.txt: no such file/)
  expect(ended.stdout).toHaveLength(0)
})

it('keeps its promise however many URLs come, and whatever share of them brings new folders', async () => {
  const urls = new FolderGrowth(1000, 1e-6)
  const HOSTS = isFull ? 1_300_000 : 700_000 // each with two folders of its own: several filters
  for (let from = 0; from < HOSTS; from += 10_000) {
    const lines = Array.from({ length: 10_000 }, (_, i) => `https://h${from + i}.example/${from + i}/a\n`)
    await urls.addLines(Buffer.from(lines.join('')))
  }
  for (let i = 0; i < HOSTS; i += 1009) {
    expect(urls.hasUnder(`h${i}.example`) && urls.hasUnder(`h${i}.example/${i}/`)).toBe(true)
  }
  let wrong = 0
  for (let i = 0; i < 20_000; i++) if (urls.hasUnder(`invented${i}.example`)) wrong++
  // 0.02 are expected at most; more than two have a chance of about 1e-6.
  expect(wrong).toBeLessThanOrEqual(2)
})
