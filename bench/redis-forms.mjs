// The ways to remember URLs in Redis that were weighed. Each takes a batch of URLs and gives one verdict each; all that
// hash do it in urlsieve's kernel, and spread the hashes by the same tags.

import { createHash } from 'node:crypto'
import { Cluster, Redis as IoRedis } from 'ioredis'
import { importInternals } from './internals.mjs'
import { builtFile } from './programs.mjs'

const { LayeredRedisSieve, RedisSieve } = await import(builtFile('redis/index.js'))
const { blockedPlan, chooseHash, evenTags, Keyer, profiles, Spread } = await importInternals(
  'keyer/keyer',
  'hashes',
  'redis/spread',
  'redis/slots',
  'canonical/profiles',
  'sizing/blocked',
)

const tagCount = 32
const tags = evenTags(tagCount)
const rate = 1e-6

/** urlsieve/redis with these options. */
export const sieve = (shape) => async (redis) => {
  const opened = await RedisSieve.open({ client: redis.client, name: 'bench', tags: tagCount, ...shape })
  return (batch) => opened.addMany(batch)
}

/** The papers' layers on the cluster. */
const layered = (form) => async (redis) => {
  const opened = await LayeredRedisSieve.open({ client: redis.client, name: 'bench', tags: tagCount, form })
  return (batch) => opened.addMany(batch)
}

// One SADD per URL, pipelined: what scrapy-redis does. In a cluster the keys are spread by tag, too.
const sadd = (send) => async (redis) => (batch) =>
  Promise.all(
    batch.map((url, i) => {
      const key = redis.isCluster ? `{${tags[(url.length * 31 + i) % tagCount]}}urls` : 'urls'
      return send(redis, key, url)
    }),
  )

// The same through ioredis.
const ioSadd = async (redis, urls) => {
  const [{ port }] = redis.nodes
  const client = redis.isCluster ? new Cluster([{ host: '127.0.0.1', port }]) : new IoRedis(port, '127.0.0.1')
  const add = await sadd((_, key, url) => client.sadd(key, url))(redis, urls)
  return Object.assign((batch) => add(batch), { close: () => client.disconnect() })
}

// urlsieve/redis through ioredis.
const ioSieve = async (redis) => {
  const [{ port }] = redis.nodes
  const client = redis.isCluster ? new Cluster([{ host: '127.0.0.1', port }]) : new IoRedis(port, '127.0.0.1')
  const add = await sieve({})({ client })
  return Object.assign((batch) => add(batch), { close: () => client.disconnect() })
}

/** BF.MADD of the URLs as they are, into one filter. */
const madd = async (redis, urls) => {
  await redis.send('urls', ['BF.RESERVE', 'urls', String(rate), String(urls)])
  return (batch) => redis.send('urls', ['BF.MADD', 'urls', ...batch])
}

async function hashed(redis, ask) {
  const keyer = await Keyer.create(profiles.web, chooseHash('siphash', new Uint8Array(16)))
  const spread = new Spread(tagCount)
  return async (batch) => {
    const verdicts = new Uint8Array(batch.length)
    const parts = spread.over(keyer.hashesOf({ strings: batch }).hashes)
    await Promise.all(
      parts.map(async ({ tag, items, indexes }) => {
        const answers = await ask(`{${tags[tag]}}bits`, items, redis)
        for (let i = 0; i < indexes.length; i++) verdicts[indexes[i]] = answers[i]
      }),
    )
    return verdicts
  }
}

const blocksOf = (urls) => {
  const { bits, hashes } = blockedPlan({ urls, rate })
  return { blocks: Math.ceil(bits / 512 / tagCount), hashes }
}

// The bits of a hash in a block: nine of the top for each step of a linear congruential generator.
const blockScript = (hashes) => `
local key, items, blocks = KEYS[1], ARGV[1], tonumber(ARGV[2])
local call, get, set = redis.call, struct.unpack, struct.pack
local words = '<' .. string.rep('I4', 16)
local empty = string.rep('\\0', 64)
local out = {}
for i = 1, #items, 8 do
  local lo, hi = get('<I4I4', items, i)
  local at = math.floor((hi % ${2 ** 27}) * blocks / ${2 ** 27}) * 64
  local block = call('GETRANGE', key, at, at + 63)
  if #block < 64 then block = block .. string.sub(empty, #block + 1) end
  local w = { get(words, block) }
  local fresh = 0
  for _ = 1, ${hashes} do
    lo = (lo * 1664525 + 1013904223) % 4294967296
    local bit9 = math.floor(lo / 8388608)
    local n, mask = math.floor(bit9 / 32) + 1, 2 ^ (bit9 % 32)
    if math.floor(w[n] / mask) % 2 == 0 then fresh, w[n] = 1, w[n] + mask end
  end
  if fresh == 1 then w[17] = nil call('SETRANGE', key, at, set(words, unpack(w))) end
  out[#out + 1] = fresh
end
return table.concat(out)`

const blocked = async (redis, urls) => {
  const { blocks, hashes } = blocksOf(urls)
  const text = blockScript(hashes)
  const sha = createHash('sha1').update(text).digest('hex')
  for (const { admin } of redis.nodes) await admin.sendCommand(['SCRIPT', 'LOAD', text])
  return hashed(redis, async (key, items) => {
    const digits = String(await redis.send(key, ['EVALSHA', sha, '1', key, items, String(blocks)]))
    return Array.from(digits, Number)
  })
}

// One BITFIELD for each URL, pipelined.
const bitfield = async (redis, urls) => {
  const { blocks, hashes } = blocksOf(urls)
  return hashed(redis, (key, items) =>
    Promise.all(
      Array.from({ length: items.length / 8 }, async (_, i) => {
        let lo = items.readUInt32LE(8 * i)
        const at = Math.floor(((items.readUInt32LE(8 * i + 4) % 2 ** 27) * blocks) / 2 ** 27) * 512
        const command = ['BITFIELD', key]
        for (let j = 0; j < hashes; j++) {
          lo = (Math.imul(lo, 1664525) + 1013904223) >>> 0
          command.push('SET', 'u1', String(at + (lo >>> 23)), '1')
        }
        return Number((await redis.send(key, command)).includes(0))
      }),
    ),
  )
}

/**
 * `isKept`: what urlsieve/redis does; `isRival`: what it must beat; `needs`: another server than Redis, one node only;
 * `rate`: the chance of a wrong "seen" when it holds n URLs. The first is what all are compared with.
 */
export const forms = [
  {
    name: 'one SADD per URL',
    open: sadd(({ client }, key, url) => client.sAdd(key, url)),
    rate: () => 0,
    isRival: true,
  },
  {
    name: 'the same, no client timeout',
    open: sadd((redis, key, url) => redis.send(key, ['SADD', key, url])),
    rate: () => 0,
    isRival: true,
  },
  { name: 'one SADD per URL, ioredis', open: ioSadd, rate: () => 0, isRival: true },
  { name: 'BF.MADD, RedisBloom', open: madd, rate: () => rate, isRival: true, needs: 'module' },
  { name: 'BF.MADD, urlsieve serve', open: madd, rate: () => rate, isRival: true, needs: 'serve' },
  { name: 'fingerprint (kept)', open: sieve({}), rate: (n) => n / 2 ** 64, isKept: true },
  { name: 'fingerprint, ioredis', open: ioSieve, rate: (n) => n / 2 ** 64, isRival: true },
  { name: 'fingerprint, expectedUrls', open: (redis, expectedUrls) => sieve({ expectedUrls })(redis) },
  {
    name: 'compact (kept)',
    open: (redis, expectedUrls) => sieve({ mode: 'compact', expectedUrls })(redis),
    rate: () => 192 / 2 ** 32,
    isKept: true,
  },
  { name: 'prefix-layers', open: layered('prefix-layers') },
  { name: 'multilayer', open: layered('multilayer') },
  { name: 'blocked bits by script', open: blocked },
  { name: 'one BITFIELD per URL', open: bitfield },
]
