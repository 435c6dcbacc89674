// `urlsieve explain`: the key of each URL, what each rule did, and which of them are the same.
import { spawnSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { bash, expectQuiet, urlsieve } from './command.ts'

const urls = ['https://Example.com:443/a/../b#top', 'http://example.com/b', 'not a link']

it('says what each rule did, for people', async () => {
  const ended = await urlsieve(['explain', ...urls])
  expectQuiet(ended)
  expect(ended.stdout.toString()).toBe(`https://Example.com:443/a/../b#top
  key          https://example.com/b
  whatwg       https://Example.com:443/a/../b#top → https://example.com/b#top
                 host lower-cased
                 default port 443 dropped
                 dot segments resolved
  no-fragment  https://example.com/b#top → https://example.com/b
                 fragment #top dropped
  verdict      new
http://example.com/b
  key      https://example.com/b
  https    http://example.com/b → https://example.com/b
             scheme http: → https:
  verdict  seen
not a link
  key      not a link
  invalid  not a URL: its key is the line unchanged
  verdict  new
`)
})

it('--json: one object a URL', async () => {
  const ended = await urlsieve(['explain', '--json', ...urls])
  expectQuiet(ended)
  const lines = ended.stdout.toString().trimEnd().split('\n')
  const [first, second, third] = lines.map((line) => JSON.parse(line))
  expect(lines).toHaveLength(3)
  expect(first).toMatchObject({ url: urls[0], key: 'https://example.com/b', isUrl: true, verdict: 'new' })
  expect(first.steps.map((step: { rule: string; changed: boolean }) => [step.rule, step.changed])).toEqual([
    ['whatwg', true],
    ['no-fragment', true],
    ['https', false],
    ['escapes', false],
  ])
  expect(first.steps[0]).toMatchObject({ before: urls[0], after: 'https://example.com/b#top' })
  expect(second).toMatchObject({ url: urls[1], key: first.key, isUrl: true, verdict: 'seen' })
  expect(third).toMatchObject({ url: urls[2], key: 'not a link', isUrl: false, verdict: 'new' })
})

it('--profile raw: the line is the key', async () => {
  const ended = await urlsieve(['explain', '--json', '--profile', 'raw', ...urls])
  expectQuiet(ended)
  const keys = ended.stdout.toString().trimEnd().split('\n')
  expect(keys.map((line) => JSON.parse(line).key)).toEqual(urls)
})

it('says the key that dedupe uses', async () => {
  const odd = [
    'HTTP://EXAMPLE.com/%7Ea/./b/?q=ä#x',
    'https://münchen.example/',
    'http://0x7f.1/',
    'mailto:A@b.example',
  ]
  const explained = await urlsieve(['explain', '--json', ...odd])
  const keys = explained.stdout.toString().trimEnd().split('\n')
  const deduped = await urlsieve(['dedupe', '--keys'], { input: odd.map((url) => `${url}\n`).join('') })
  expect(deduped.stdout.toString().trimEnd().split('\n')).toEqual(keys.map((line) => JSON.parse(line).key))
})

const noScript = spawnSync('script', ['--version']).error !== undefined
it.skipIf(noScript)(
  `in colour on a terminal, unless NO_COLOR${noScript ? ' (skipped: no script on the PATH)' : ''}`,
  async () => {
    const command = `script -qec ""$URLSIEVE" explain http://Example.com/" /dev/null`
    const env = { NO_COLOR: '', TERM: 'xterm' }
    const text = String((await bash(command, { env })).stdout)
    expect(text).toContain('\x1b[32mnew\x1b[39m')
    expect(text).toContain('\x1b[31mE\x1b[39mxample.com/ → http://\x1b[32me\x1b[39mxample.com/')
    const plain = String((await bash(command, { env: { ...env, NO_COLOR: '1' } })).stdout)
    expect(plain).not.toContain('\x1b[')
    expect(plain.replaceAll('\r', '')).toBe(text.replaceAll(/\x1b\[\d+m|\r/g, ''))
  },
)
