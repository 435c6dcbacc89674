// The sieve of a crawl: in memory, in the state's folder, or on Redis, shared by crawls on other machines; and the exact
// truth beside it.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import type { Profile } from '../canonical/profiles.ts'
import { Audit } from '../crawlers/audit.ts'
import type { SeenUrls } from '../crawlers/seen-urls.ts'
import { Sieve, type SieveOptions } from '../index.ts'
import { Capacity } from './capacity.ts'
import { CommandError, EXIT } from './exit.ts'
import { connectionOf, type RedisFlags } from './redis-options.ts'
import { type SieveFlags, sieveOptions } from './sieve-options.ts'

/** Flags of the sieve under another name: `--depth` is that of the crawl. */
export const CRAWL_FLAGS = { '--depth': '--filter-depth' }

export interface CrawlSieveFlags extends SieveFlags, RedisFlags {
  state?: string
  redis?: string
  name: string
  audit?: boolean
}

export interface CrawlSieve {
  readonly urls: SeenUrls
  readonly profile: Profile
  /** The chance that it answers "seen" for a new URL now; null when it is unknown. */
  readonly rate: (() => number) | null
  /** Watches a filter of a fixed size; null on Redis. */
  readonly capacity: Capacity | null
  close(): Promise<void>
}

export async function openCrawlSieve(flags: CrawlSieveFlags, command: Command): Promise<CrawlSieve> {
  if (flags.audit) checkAudit(flags)
  if (flags.redis !== undefined) return onRedis(flags.redis, flags, command)
  const sieve = await inProcess(flags, command)
  return {
    urls: sieve,
    profile: sieve.profile,
    rate: sieve.stats().expectedRate === null ? null : () => sieve.stats().expectedRate!,
    capacity: new Capacity(sieve),
    close: () => sieve.close(),
  }
}

// The truth must know all that the sieve knows, or it would call pages lost that were fetched.
function checkAudit({ redis, state }: CrawlSieveFlags): void {
  if (redis !== undefined) {
    throw new CommandError(
      EXIT.usage,
      '--audit with --redis: expected one of them; the truth cannot know what other crawls have seen',
    )
  }
  if (state !== undefined && existsSync(join(state, 'seen')) && !existsSync(join(state, 'truth'))) {
    throw new CommandError(
      EXIT.usage,
      `--audit: the crawl in ${state} began without it; leave it out, or begin in another folder`,
    )
  }
}

// A sieve that is in the folder already keeps its own filter, profile and hash unless the flags are given.
async function inProcess(flags: CrawlSieveFlags, command: Command): Promise<Sieve> {
  const options = sieveOptions(flags, CRAWL_FLAGS)
  if (flags.state === undefined) return Sieve.create(options)
  const folder = join(flags.state, 'seen')
  const kept = existsSync(folder) ? ['filter', 'profile', 'hash'] : []
  const defaulted = new Set(kept.filter((name) => command.getOptionValueSource(name) === 'default'))
  const given = Object.fromEntries(Object.entries(options).filter(([name]) => !defaulted.has(name)))
  return Sieve.open(folder, given as SieveOptions)
}

async function onRedis(url: string, flags: CrawlSieveFlags, command: Command): Promise<CrawlSieve> {
  if (command.getOptionValueSource('filter') !== 'default') {
    throw new CommandError(
      EXIT.usage,
      '--filter with --redis: expected one of them; Redis has a filter of its own',
    )
  }
  const { connectRedis, RedisSieve } = await import('../redis/index.ts')
  const { connect, calls } = connectionOf(flags)
  const connection = await connectRedis(url, connect)
  try {
    const isGiven = command.getOptionValueSource('profile') !== 'default'
    const sieve = await RedisSieve.open({
      client: connection.client,
      name: flags.name,
      ...calls,
      ...(isGiven && { profile: flags.profile }),
    })
    const close = async () => {
      await sieve.close()
      await connection.close()
    }
    return { urls: sieve, profile: sieve.profile, rate: null, capacity: null, close }
  } catch (error) {
    await connection.close()
    throw error
  }
}

/** Keeps every key beside the sieve, in the state's folder too; reports each lost page as it happens. */
export async function openAudit(
  { urls, profile, rate }: CrawlSieve,
  state: string | undefined,
  onLost: (url: string) => void,
): Promise<Audit> {
  const exact = { filter: 'hash-set', profile } as const
  const truth =
    state === undefined ? await Sieve.create(exact) : await Sieve.open(join(state, 'truth'), exact)
  return new Audit(urls, truth, rate, onLost)
}
