// robots.txt as RFC 9309 reads it: groups, the longest match, wildcards, octets; and in linear time whatever it holds.
import { describe, expect, it } from 'vitest'
import { RobotsFile } from '../../src/crawlers/robots-file.ts'

const allows = (text: string, path: string, agent = 'urlsieve/0.1.0') =>
  new RobotsFile(text, agent).allows(`https://example.com${path}`)
const star = (...rules: string[]) => `User-agent: *\n${rules.join('\n')}\n`

describe('what is open', () => {
  it.each([
    ['a folder is closed', star('Disallow: /a/'), '/a/b', false],
    ['another one is not', star('Disallow: /a/'), '/b', true],
    ['nothing closes nothing', star('Disallow:'), '/a', true],
    ['the longest match counts', star('Disallow: /a', 'Allow: /a/b', 'Disallow: /a/b/c'), '/a/b/x', true],
    ['in any order', star('Disallow: /a/b/c', 'Allow: /a/b', 'Disallow: /a'), '/a/b/c', false],
    ['of equal ones that which allows', star('Disallow: /a', 'Allow: /a'), '/a', true],
    ['the path is told apart by case', star('Disallow: /A'), '/a', true],
    ['the query counts', star('Disallow: /*?sid='), '/a?sid=1', false],
    ['* is any text', star('Disallow: /*/private/*.html'), '/x/y/private/z.html?q', false],
    ['* may be nothing', star('Disallow: /a**b'), '/ab', false],
    [
      'parts come in order',
      star('Disallow: /*long-part-one*long-part-two'),
      '/long-part-two-long-part-one',
      true,
    ],
    ['a part that begins again inside itself', star('Disallow: /*aaaaaaaaab'), '/aaaaaaaaaaaab', false],
    ['$ is the end', star('Disallow: /*.pdf$'), '/a.pdf', false],
    ['and not before it', star('Disallow: /*.pdf$'), '/a.pdf?x', true],
    ['$ of a whole path', star('Disallow: /$'), '/', false],
    ['$ of a whole path and no more', star('Disallow: /$'), '/a', true],
    ['$ with parts that overlap', star('Disallow: /ab*ba$'), '/aba', true],
    ['escapes are compared as octets', star('Disallow: /%7Ejoe/%c3%a9'), '/~joe/é', false],
    ['letters beyond ASCII too', star('Disallow: /é'), '/%C3%A9', false],
    ['an escaped slash is none', star('Disallow: /a%2fb'), '/a/b', true],
    ['robots.txt itself is open', star('Disallow: /'), '/robots.txt', true],
    [
      'our own group replaces that of all',
      `${star('Disallow: /')}User-agent: URLsieve\nDisallow: /x`,
      '/a',
      true,
    ],
    [
      'groups of one name are one',
      'User-agent: urlsieve\nDisallow: /a\n\nUser-agent: b\nDisallow: /b\n\nUser-agent: urlsieve\nDisallow: /c',
      '/c',
      false,
    ],
    ['names in a row share a group', 'User-agent: a\nUser-agent: urlsieve/2\n\nDisallow: /c', '/c', false],
    ['rules before any name are none', 'Disallow: /\nUser-agent: *\n', '/a', true],
    ['any line ends, comments, and case', '\ufeffuser-AGENT : * # all\rDISALLOW : /a # b\r\n', '/a', false],
  ])('%s', (_, text, path, isAllowed) => {
    expect(allows(text, path)).toBe(isAllowed)
  })
})

it('500 KiB against a path of 8,192 characters: a bounded time, and closed when it would take longer', () => {
  const filled = (line: string) => star(line.repeat(Math.ceil(512_000 / line.length)))
  const path = `/${'a'.repeat(8190)}`
  const started = performance.now()
  for (const [text, isAllowed] of [
    [filled('Allow: /*a*a*a*a*a*a*a*b\n'), false],
    [filled('Allow: *aaaaaab\n'), false],
    [filled('Allow: *aaaaaaaaaaaab\n'), false],
    [filled(`Disallow: /*${'a'.repeat(4000)}b*${'a'.repeat(4000)}b\n`), true],
    [star(`Disallow: ${'*a'.repeat(256_000)}`), true],
    [star(...Array.from({ length: 1000 }, (_, i) => `Disallow: /*${i}b`)), true],
    [filled('User-agent: *\n'), true],
    [filled(':'), true],
    [filled('#'), true],
    ['x'.repeat(512_000), true],
  ] as const) {
    const file = new RobotsFile(text, 'urlsieve')
    for (let i = 0; i < 3; i++) expect(file.allows(`https://example.com${path}`)).toBe(isAllowed)
  }
  // On a machine that does nothing else: about a second.
  expect(performance.now() - started).toBeLessThan(30_000)
})
