// Each rule on vectors of its own, and the promises all of them make.

import { describe, expect, it } from 'vitest'
import { type RuleName, rules } from '../../src/canonical/rules.ts'
import { expectIs } from '../support/expect-is.ts'
import { generateUrls } from './urls.ts'

const vectors: Record<RuleName, [before: string, after: string | null][]> = {
  trim: [
    ['\u00a0 http://h/ \ufeff', 'http://h/'],
    ['http://h/', 'http://h/'],
  ],
  whatwg: [
    ['HTTP://EXAMPLE.com:80/%7ea/./b/../c?#f', 'http://example.com/%7ea/c?#f'],
    ['https://h:443', 'https://h/'],
    ['http://h/a|b^c{d}\'"<>`é', "http://h/a|b^c%7Bd%7D'%22%3C%3E%60%C3%A9"],
    ["http://h/?'|^`", 'http://h/?%27|^`'],
    ['http:\\\\h\\a', 'http://h/a'],
    ['\x01 ht\ttp://h/\na ', 'http://h/a'],
    ['http://[2001:DB8:0:0::1]:8080/', 'http://[2001:db8::1]:8080/'],
    ['http://2130706433/', 'http://127.0.0.1/'],
    ['mailto:A@b', 'mailto:A@b'],
    ['example.com', null],
    ['http://', null],
    ['', null],
  ],
  'bare-host': [
    ['example.com/a', 'https://example.com/a'],
    ['//example.com', 'https://example.com'],
    ['http://example.com/', 'http://example.com/'],
    [' exam\nple.com:80', 'https://example.com:80'],
    [' https://h/', ' https://h/'],
    ['mailto:a@example.com', 'mailto:a@example.com'],
    ['/a/b.html', '/a/b.html'],
    ['N/A', 'N/A'],
  ],
  'no-fragment': [
    ['http://h/#', 'http://h/'],
    ['http://h/a?b#c#d', 'http://h/a?b'],
    ['data:a #b', 'data:a'],
    ['http://h/a', 'http://h/a'],
  ],
  https: [
    ['http://h:443/', 'https://h/'],
    ['http://h:80/', 'https://h/'],
    ['https://h:80/', 'https://h:80/'],
    ['http://u:80@h/', 'https://u:80@h/'],
    ['http://[::1]:443/a:443', 'https://[::1]/a:443'],
    ['httpx://h/', 'httpx://h/'],
    ['ws://h:443/', 'ws://h:443/'],
  ],
  escapes: [
    ['http://h/%66oo/%7euser?%41=%5f%2d%2E', 'http://h/foo/~user?A=_-.'],
    ['http://h/%2f%3a?%26%3d', 'http://h/%2F%3A?%26%3D'],
    ['http://h/%c3%a9', 'http://h/%C3%A9'],
    ['http://%75:%70%3a@h/', 'http://u:p%3A@h/'],
    ['http://h/%2541', 'http://h/%2541'],
    // A bare % never becomes part of an escape that was none before.
    ['http://h/%%34%31', 'http://h/%%341'],
    ['http://h/%4%31', 'http://h/%4%31'],
    ['http://h/%%41%%2d%', 'http://h/%%41%-%'],
    ['http://h/%zz%7', 'http://h/%zz%7'],
    ['file:///%43|/a', 'file:///%43|/a'],
    ['data:,%41', 'data:,%41'],
  ],
  'escape-unwise': [
    ['http://h/a|b^c`d{e}?|^`{}\\', 'http://h/a%7Cb%5Ec%60d%7Be%7D?%7C%5E%60%7B%7D%5C'],
    ['http://h/%7c[a]?x[y]=1', 'http://h/%7c%5Ba%5D?x%5By%5D=1'],
    ['http://[::1]/', 'http://[::1]/'],
    ['data:|', 'data:|'],
  ],
  'no-credentials': [
    ['http://u:p@h:1/a@b', 'http://h:1/a@b'],
    ['http://h/a@b', 'http://h/a@b'],
    ['mailto:a@b', 'mailto:a@b'],
  ],
  'no-utm': [
    ['http://h/?utm_a=1&b=2&utm_c', 'http://h/?b=2'],
    ['http://h/?utm_a', 'http://h/'],
    ['http://h/?UTM_a=1&b=utm_', 'http://h/?UTM_a=1&b=utm_'],
    ['http://h/?&&', 'http://h/?&&'],
    ['http://h/#?utm_a=1', 'http://h/#?utm_a=1'],
  ],
  'no-tracking': [
    ['http://h/?a=1&gclid=2&FBCLID=3&msclkid&mc_eid=&utm_x=y', 'http://h/?a=1'],
    ['http://h/?utm%5fsource=x', 'http://h/'],
    ['http://h/?gclids=1', 'http://h/?gclids=1'],
  ],
  'no-session': [
    ['http://h/a;jsessionid=1?b=2', 'http://h/a?b=2'],
    ['http://h/a;v=1;JSESSIONID=x;w=2/b', 'http://h/a;v=1;w=2/b'],
    ['http://h/?sid=1&PHPSESSID=2&ASPSESSIONIDQQ=3&side=4', 'http://h/?side=4'],
    ['http://h/(S(a))/(X(1)F(b))/c', 'http://h/c'],
    ['http://h/..;sid=1/a', 'http://h/..;sid=1/a'],
    ['mailto:a;sid=1', 'mailto:a;sid=1'],
  ],
  'no-www': [
    ['http://www.a.com:8/', 'http://a.com:8/'],
    ['http://u@www.a.com', 'http://u@a.com'],
    ['http://www.www.a.com/', 'http://a.com/'],
    ['http://www.www.com/', 'http://www.com/'],
    ['http://www.com./', 'http://www.com./'],
    ['http://h/http://www.a.com', 'http://h/http://www.a.com'],
    ['http://wwww.a.com/', 'http://wwww.a.com/'],
  ],
  'no-www-number': [
    ['http://www2.a.com:8/', 'http://a.com:8/'],
    ['http://www.www12.a.com/', 'http://a.com/'],
    ['http://u:p@www3.a.com', 'http://u:p@a.com'],
    ['http://www.a.b@h/', 'http://www.a.b@h/'],
    ['http://www2.com/', 'http://www2.com/'],
    ['http://www2.com./', 'http://www2.com./'],
    ['http://www-2.a.com/', 'http://www-2.a.com/'],
    ['http://[::1]:80/', 'http://[::1]:80/'],
    ['mailto:www2.a.com', 'mailto:www2.a.com'],
  ],
  'no-host-dot': [
    ['http://a.com./b.', 'http://a.com/b.'],
    ['http://u.@a.com.:8/', 'http://u.@a.com:8/'],
    ['http://a.com../', 'http://a.com../'],
    ['http://./', 'http://./'],
    ['mailto:a@b.', 'mailto:a@b.'],
  ],
  'single-slashes': [
    ['http://h//a///b/?c//d', 'http://h/a/b/?c//d'],
    ['http://h/http://a', 'http://h/http:/a'],
    ['foo://a//', 'foo://a/'],
    ['foo:a//b', 'foo:a//b'],
  ],
  'no-index': [
    ['http://h/index.html', 'http://h/'],
    ['http://h/a/INDEX.PHP/?b', 'http://h/a/?b'],
    ['http://h/index.html/index.htm', 'http://h/'],
    ['http://h/a//index.html//default.asp//', 'http://h/a//'],
    ['http://h/myindex.html', 'http://h/myindex.html'],
    ['http://h/index.html5', 'http://h/index.html5'],
    ['http://h/index.html/a', 'http://h/index.html/a'],
    ['http://h/?/index.html', 'http://h/?/index.html'],
  ],
  'form-query': [
    ['http://h/?a b&c=%zz&d=é&&e', 'http://h/?a+b=&c=%25zz&d=%C3%A9&e='],
    ['http://h/?', 'http://h/'],
    ['http://h/??a', 'http://h/?%3Fa='],
    ['http://h/#?a b', 'http://h/#?a b'],
  ],
  'no-empty-parameters': [
    ['http://h/?a&&b=&=&c==&=d&', 'http://h/?a&b&c==&=d'],
    ['http://h/?&', 'http://h/'],
    ['http://h/?', 'http://h/?'],
    ['http://h/#?&', 'http://h/#?&'],
  ],
  'sort-query': [
    ['http://h/?b&a=2&a=1&%61=0#?z&y', 'http://h/?a=2&a=1&%61=0&b#?z&y'],
    ['http://h/?\uffff&😀', 'http://h/?😀&\uffff'],
    ['http://h/?', 'http://h/?'],
  ],
  'no-empty-query': [
    ['http://h/?', 'http://h/'],
    ['http://h/?#f', 'http://h/#f'],
    ['http://h/??', 'http://h/??'],
  ],
  'no-trailing-slash': [
    ['http://h/', 'http://h'],
    ['http://h/a///?b/', 'http://h/a?b/'],
    ['foo:/', 'foo:/'],
  ],
  crawlee: [
    ['http://h//', 'http://h/'],
    ['tel:1', 'tel://1'],
    ['foo:/.//a/', 'foo:////a'],
    ['foo://A%C3%A9/B', 'foo://a%c3%a9/B'],
  ],
  scrapy: [
    ['sftp://UsEr:PaSs@Example.COM:22/', 'sftp://UsEr:PaSs@example.com:22/'],
    ['http://user@Bücher.example:80:/', 'http://user@xn--bcher-kva.example:80/'],
    ['https://тест.тест:33', 'https://xn--e1aybc.xn--e1aybc:33/'],
    ['http://ü:x@ö.de', 'http://%C3%BC:x@xn--nda.de/'],
    ['http://a@B@[::1]:8/', 'http://a@B@[::1]:8/'],
    ['http://@H:', 'http://@h/'],
  ],
  w3lib: [
    ['http://www.example.com/do?c=3&b=5&b=2&a=50', 'http://www.example.com/do?a=50&b=2&b=5&c=3'],
    ['http://h', 'http://h/'],
    ['', '/'],
    ['http:a', 'http:///a'],
    ['http://h/%2f%3f%41%23%e9', 'http://h/%2F%3FA%23%E9'],
    ['http://h/?a;b=+&c=%e9', 'http://h/?a=&b=+&c=%E9'],
    ['http://ü:x@ö.de:80:/', 'http://xn--:x@-una0a.de:80/'],
    ['http://[::1%25x]/', 'http://[::1%25x]/'],
    ['http://a℀b/', null],
    ['http://[1.2.3.4]/', null],
    ['http://h/\ud800', null],
  ],
}

describe.each(Object.values(rules))('rule $name', (rule) => {
  it.each(vectors[rule.name as RuleName])('%j → %j', (before, after) => {
    expect(rule.apply(before)).toBe(after)
  })
})

it('every rule is told by its own name and one line', () => {
  for (const [name, rule] of Object.entries(rules)) {
    expect(rule.name).toBe(name)
    expect(rule.does).toMatch(/^[^\n]{10,100}$/)
  }
})

// Crawlee drops one slash of many, w3lib decodes %2541 to %41: their references are not idempotent either.
const idempotent = Object.values(rules).filter((rule) => !['crawlee', 'scrapy', 'w3lib'].includes(rule.name))

it.each(idempotent)('$name is idempotent, on URLs as written and as the platform writes them', (rule) => {
  for (const url of generateUrls(11, 5000, { lineEnds: true })) {
    for (const key of [url, rules.whatwg.apply(url) ?? url]) {
      const once = rule.apply(key)
      if (once !== null) expectIs(rule.apply(once), once, key)
    }
  }
})

it('whatwg resolves every dot segment, however the platform does (Node 20 leaves some)', () => {
  const { apply } = rules.whatwg
  expect(apply('http://h/a/.b/.c/../../../d?/../e')).toBe('http://h/d?/../e')
  expect(apply('file:///C|/.b./../../../x')).toBe('file:///C:/x')
  expect(apply('foo:/a/.b/../..//c')).toBe('foo:/.//c')
  expect(apply('foo://../a/.b/..')).toBe('foo://../a/')
  expect(apply('foo:a/.b/../c')).toBe('foo:a/.b/../c')
})

it('a host that needs IDNA and has over 1,024 characters is not parsed', () => {
  const { apply } = rules.whatwg
  const long = (unit: string) => unit.repeat(1025)
  for (const unit of ['é', '%41', 'xn--a.']) {
    expect(apply(`http://${long(unit)}/`)).toBeNull()
    expect(apply(` ht\ttps:u@${long(unit)}:1?`)).toBeNull()
    expect(apply(`file://${long(unit)}/`)).toBeNull()
    for (const start of ['http://h/', 'http://h?', 'foo://h/', 'file:///', 'http://h\\', 'data:,']) {
      expect(apply(start + long(unit)), start + unit).not.toBeNull()
    }
    expect(apply(`http://${long(unit)}@h/`)).not.toBeNull()
  }
  expect(apply(`http://${long('a.')}com/`)).not.toBeNull()
})

it('whatwg answers the same for Latin-1 URLs when it is hot (URL.canParse of Node 20 does not)', () => {
  const urls = Array.from({ length: 20_000 }, (_, i) => `http://${i % 2 ? 'bücher' : 'h'}.example/${i}`)
  expect(urls.filter((url) => rules.whatwg.apply(url) === null)).toEqual([])
})
