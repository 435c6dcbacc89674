// A process of its own that adds URLs to a shared sieve: adder.mjs FOLDER REDIS_URL OPTIONS FIRST COUNT DISTINCT.
// FOLDER is the built library. Starts at URL number FIRST and goes round; says which were new, one byte a URL.
const [folder, url, options, first, count, distinct] = process.argv.slice(2)
const { connectRedis, RedisSieve } = await import(`${folder}/redis/index.js`)

const { client, close } = await connectRedis(url)
const sieve = await RedisSieve.open({ client, ...JSON.parse(options) })
const fresh = new Uint8Array(Number(distinct))
for (let done = 0; done < Number(count); done += 500) {
  const numbers = Array.from({ length: 500 }, (_, i) => (Number(first) + done + i) % Number(distinct))
  const verdicts = await sieve.addMany(numbers.map((n) => `https://host${n % 97}.example/page-${n}`))
  for (const [i, verdict] of verdicts.entries()) fresh[numbers[i]] += verdict
}
await close()
process.stdout.write(fresh)
