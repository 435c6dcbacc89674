// The scope of a crawl: the given hosts and those that its first pages redirect to, or all hosts. Private addresses are
// never in the scope of a crawl of public hosts: no page can lead the crawl into the network it runs in.
import { lookup } from 'node:dns'
import { BlockList, isIP, type LookupFunction } from 'node:net'

export class Scope {
  readonly #hosts: Set<string>
  /** Given names that were not resolved yet: one that was public may not become private later. */
  readonly #names: Set<string>
  readonly #allHosts: boolean
  #isPrivate: boolean

  constructor(urls: readonly string[], allHosts: boolean) {
    const given = urls.map((url) => new URL(url))
    this.#hosts = new Set(given.map(({ host }) => host))
    this.#names = new Set(given.map(({ hostname }) => hostname))
    this.#allHosts = allHosts
    this.#isPrivate = given.some(({ hostname }) => isPrivateName(hostname))
  }

  /** Whether a link may be followed. */
  has(url: string): boolean {
    const { host, hostname } = new URL(url)
    return this.#hosts.has(host) || (this.#allHosts && this.#mayBePublic(hostname))
  }

  /** Whether a redirect may be followed. That of a first page adds its host to the scope: example.org to www.example.org. */
  hasRedirect(url: string, depth: number): boolean {
    const { host, hostname } = new URL(url)
    if (this.has(url)) return true
    if (depth > 0 || !this.#mayBePublic(hostname)) return false
    this.#hosts.add(host)
    return true
  }

  /** Whether the robots.txt of one host may be that of another (RFC 9309, 2.3.1.2). */
  hasRobots(url: string): boolean {
    const { protocol, hostname, pathname } = new URL(url)
    if (!/^https?:$/.test(protocol)) return false
    return this.has(url) || (pathname === '/robots.txt' && this.#mayBePublic(hostname))
  }

  /** Pending pages were in scope when they were found, possibly in an earlier run. */
  admit(url: string): void {
    this.#hosts.add(new URL(url).host)
  }

  #mayBePublic(hostname: string): boolean {
    return this.#isPrivate || !isPrivateName(hostname)
  }

  /** Resolves names, and rejects one with a private address unless a given host is private. */
  readonly lookup: LookupFunction = (hostname, options, done) => {
    lookup(hostname, options, (error, address, family) => {
      const addresses = typeof address === 'string' ? [address] : (address?.map((one) => one.address) ?? [])
      const isPrivate = addresses.some(isPrivateAddress)
      if (!error && this.#names.delete(hostname) && isPrivate) this.#isPrivate = true
      if (isPrivate && !this.#isPrivate) {
        return done(new Error(`${hostname} has a private address, and no given URL has one`), '')
      }
      done(error, address as string, family)
    })
  }
}

const PRIVATE = new BlockList()
for (const [network, bits] of [
  ...([
    ['0.0.0.0', 8],
    ['10.0.0.0', 8],
    ['100.64.0.0', 10],
    ['127.0.0.0', 8],
    ['169.254.0.0', 16],
  ] as const),
  ...([
    ['172.16.0.0', 12],
    ['192.0.0.0', 24],
    ['192.168.0.0', 16],
    ['198.18.0.0', 15],
  ] as const),
]) {
  PRIVATE.addSubnet(network, bits, 'ipv4')
  // The same through NAT64 (RFC 6052).
  PRIVATE.addSubnet(`64:ff9b::${network}`, 96 + bits, 'ipv6')
}
for (const [network, bits] of [
  ['::', 96],
  ['64:ff9b:1::', 48],
  ['fc00::', 7],
  ['fe80::', 10],
  ['fec0::', 10],
] as const) {
  PRIVATE.addSubnet(network, bits, 'ipv6')
}

/** Whether an address is of this machine or network; also IPv4 addresses in IPv6 form. */
function isPrivateAddress(address: string): boolean {
  return PRIVATE.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')
}

function isPrivateName(hostname: string): boolean {
  const address = hostname.replace(/^\[(.*)\]$/, '$1')
  if (isIP(address)) return isPrivateAddress(address)
  return /(^|\.)(localhost|local|internal)\.?$/.test(hostname)
}
