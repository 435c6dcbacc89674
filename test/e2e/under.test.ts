// `urlsieve under`: a question, answered in words and by the exit code.
import { expect, it } from 'vitest'
import { expectFailure, expectQuiet, links, urlsieve } from './command.ts'

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
