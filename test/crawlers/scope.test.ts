// Where a crawl may go: its hosts, those its first pages lead to, and into no private network that it was not given.
import { describe, expect, it, vi } from 'vitest'
import { Scope } from '../../src/crawlers/scope.ts'

/** Addresses of names, one for each time they are looked up. */
const answers = vi.hoisted(() => new Map<string, string[]>())
vi.mock('node:dns', async (original) => {
  const dns = await original<typeof import('node:dns')>()
  const lookup = (
    name: string,
    options: object,
    done: (error: null, address: string, family: number) => void,
  ) => {
    const address = answers.get(name)?.shift()
    if (address === undefined) dns.lookup(name, options, done as never)
    else done(null, address, 4)
  }
  return { ...dns, lookup }
})

const PRIVATE = [
  'http://127.0.0.1/',
  'http://2130706433/',
  'http://[::1]/',
  'http://[::ffff:10.0.0.1]/',
  'http://[fd00::1]/',
  'http://[::127.0.0.1]/',
  'http://[fec0::1]/',
  'http://[64:ff9b::10.0.0.1]/',
  'http://192.0.0.192/',
  'http://10.1.2.3:8080/',
  'http://172.31.0.1/',
  'http://192.168.0.1/',
  'http://169.254.169.254/latest/meta-data/',
  'http://0.0.0.0/',
  'http://localhost/',
  'http://metadata.google.internal/',
  'http://printer.local/',
]

describe('links', () => {
  it('stay on the hosts that were given, port and all', () => {
    const scope = new Scope(['http://example.com/', 'https://example.org:8443/x'], false)
    const urls = [
      'https://example.com/a',
      'https://example.org:8443/',
      'https://example.org/',
      'http://www.example.com/',
    ]
    expect(urls.map((url) => scope.has(url))).toEqual([true, true, false, false])
  })

  it('go anywhere with allHosts, but for private addresses', () => {
    const scope = new Scope(['https://example.com/'], true)
    expect(scope.has('https://example.org/')).toBe(true)
    expect(scope.has('http://[64:ff9b::8.8.8.8]/')).toBe(true)
    expect(PRIVATE.filter((url) => scope.has(url))).toEqual([])
  })

  it('of a private host may go to others', () => {
    const scope = new Scope(['http://10.0.0.1/'], true)
    expect(PRIVATE.filter((url) => !scope.has(url))).toEqual([])
  })
})

describe('redirects', () => {
  it('of a first page bring their host, others do not', () => {
    const scope = new Scope(['http://example.org/'], false)
    expect(scope.hasRedirect('https://www.example.org/', 1)).toBe(false)
    expect(scope.hasRedirect('https://www.example.org/', 0)).toBe(true)
    expect(scope.has('https://www.example.org/a')).toBe(true)
    expect(scope.hasRedirect('https://www.example.org/b', 3)).toBe(true)
  })

  it('of a first page do not lead into a private network', () => {
    const scope = new Scope(['http://example.org/'], false)
    expect(PRIVATE.filter((url) => scope.hasRedirect(url, 0))).toEqual([])
  })

  it('of a robots.txt may lead to that of another host, and to no other page of it', () => {
    const scope = new Scope(['http://example.org/'], false)
    const urls = ['http://www.example.org/robots.txt', 'http://example.org/x', 'http://www.example.org/x']
    expect(urls.map((url) => scope.hasRobots(url))).toEqual([true, true, false])
    expect(PRIVATE.filter((url) => scope.hasRobots(new URL('/robots.txt', url).href))).toEqual([])
    expect(scope.hasRobots('file:///robots.txt')).toBe(false)
  })
})

describe('names', () => {
  const look = (scope: Scope, name: string) =>
    new Promise<string>((resolve) => {
      scope.lookup(name, { all: false }, (error, address) => resolve(error?.message ?? String(address)))
    })

  it('that lead to a private address are refused, unless they were given', async () => {
    const outside = new Scope(['http://example.org/'], true)
    expect(await look(outside, 'localhost')).toBe('localhost has a private address, and no given URL has one')
    expect(await look(new Scope(['http://localhost/'], true), 'localhost')).toMatch(/^(127\.0\.0\.1|::1)$/)
  })
  it('that were given and were public when they were first looked up lead into no private network later', async () => {
    answers.set('example.org', ['93.184.216.34', '169.254.169.254'])
    const scope = new Scope(['http://example.org/'], false)
    expect(await look(scope, 'example.org')).toBe('93.184.216.34')
    expect(await look(scope, 'example.org')).toBe(
      'example.org has a private address, and no given URL has one',
    )
    expect(scope.hasRedirect('http://169.254.169.254/', 0)).toBe(false)
  })

  it('that were given and are private from the start open the private network', async () => {
    answers.set('wiki.example.org', ['10.0.0.1', '10.0.0.2'])
    const scope = new Scope(['http://wiki.example.org/'], false)
    expect(await look(scope, 'wiki.example.org')).toBe('10.0.0.1')
    expect(await look(scope, 'wiki.example.org')).toBe('10.0.0.2')
  })
})
