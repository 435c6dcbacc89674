// A process of a job that prints the numbers of its new URLs: deliverer.mjs FOLDER REDIS_URL NAME COUNT BATCH. FOLDER is the built library.
const [folder, url, name, count, batch] = process.argv.slice(2)
const { connectRedis, RedisSieve } = await import(`${folder}/redis/index.js`)

const { client, close } = await connectRedis(url)
const sieve = await RedisSieve.open({ client, name, job: 'deliver', tags: 4 })
const write = (text) => new Promise((resolve) => process.stdout.write(text, resolve))
let confirming = Promise.resolve()
for (let from = 0; from < Number(count); from += Number(batch)) {
  const numbers = Array.from({ length: Number(batch) }, (_, i) => from + i)
  const verdicts = await sieve.addMany(numbers.map((n) => `https://example.com/${n}`))
  await confirming
  await write(
    numbers
      .filter((_, i) => verdicts[i] === 1)
      .map((n) => `${n}\n`)
      .join(''),
  )
  confirming = sieve.confirm(sieve.ticket(verdicts))
}
await confirming
await sieve.close()
await close()
