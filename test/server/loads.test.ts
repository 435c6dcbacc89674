// Dumps are loaded while other clients send: all sockets are read into one buffer, and what a load waits for on the disk is its own.
import { expect, it } from 'vitest'
import { encoded } from './raw.ts'
import { fresh, served } from './serving.ts'

const LOADS = process.env.URLSIEVE_FULL === '1' ? 1000 : 100
const ADDING = 6

it(`${LOADS} loads of a dump, while ${ADDING} clients add: each is the filter that was dumped`, {
  timeout: 600_000,
}, async () => {
  const server = await served()
  const client = await server.connect()
  const [source, copy, other] = [fresh(), fresh(), fresh()]
  const items = Array.from({ length: 200 }, (_, i) => `item-${i}`)
  await client.ask('BF.RESERVE', source, '0.001', '1000')
  await client.ask('BF.MADD', source, ...items)
  const chunks: [string, Buffer][] = []
  for (let at = 0; ; ) {
    const [next, chunk] = (await client.ask('BF.SCANDUMP', source, String(at))) as [number, string]
    if (next === 0) break
    chunks.push([String(next), Buffer.from(chunk, 'latin1')])
    at = next
  }
  let isOver = false
  const adding = Array.from({ length: ADDING }, async (_, c) => {
    const adder = await server.connect()
    for (let round = 0; !isOver; round++) {
      const lines = Array.from({ length: 50 }, (_, i) =>
        encoded('BF.ADD', other, `https://example.com/${c}/${round}/${i}`),
      )
      adder.write(Buffer.concat(lines))
      for (const _ of lines) expect(await adder.read()).toBe(1)
    }
  })
  const failed: unknown[] = []
  for (let load = 0; load < LOADS; load++) {
    for (const [next, chunk] of chunks) {
      const answer = await client.ask('BF.LOADCHUNK', copy, next, chunk)
      if (answer !== 'OK') failed.push(answer)
    }
    const seen = (await client.ask('BF.MEXISTS', copy, ...items)) as number[]
    if (seen.includes(0)) failed.push(`load ${load} lost items`)
    await client.ask('DEL', copy)
  }
  isOver = true
  await Promise.all(adding)
  expect(failed).toEqual([])
})

it('an error about a dump has none of its bytes', async () => {
  const server = await served()
  const client = await server.connect()
  const name = fresh()
  const head = JSON.stringify({ bytes: 600, bloom: { capacity: 100, errorRate: 0.01, expansion: 2 } })
  const secret = 'https://example.com/secret'
  expect(await client.ask('BF.LOADCHUNK', name, '1', `USBLOOM1${head}`)).toBe('OK')
  const answer = await client.ask('BF.LOADCHUNK', name, '601', secret.padEnd(600, 'x'))
  expect(answer).toBe('!ERR received bad data: it is damaged, or no dump of BF.SCANDUMP')
})
