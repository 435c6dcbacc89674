// BF.* over a bare connection, in RESP2 and RESP3: RedisBloom's replies and its words.
import { describe, expect, it } from 'vitest'
import { encoded, plain } from './raw.ts'
import { fresh, pair } from './serving.ts'

const { two, three } = await pair()

describe('BF.*', () => {
  it('marks and asks, in integers or in booleans', async () => {
    for (const [client, yes, no] of [
      [two, 1, 0],
      [three, true, false],
    ] as const) {
      const k = fresh()
      expect(await client.ask('BF.EXISTS', k, 'a')).toBe(no)
      expect(await client.ask('BF.MEXISTS', k, 'a', 'b')).toEqual([no, no])
      expect(await client.ask('EXISTS', k)).toBe(0)
      expect(await client.ask('BF.ADD', k, 'a')).toBe(yes)
      expect(await client.ask('BF.ADD', k, 'a')).toBe(no)
      expect(await client.ask('BF.MADD', k, 'a', 'b', 'b', '')).toEqual([no, yes, no, yes])
      expect(await client.ask('BF.EXISTS', k, 'b')).toBe(yes)
      expect(await client.ask('BF.MEXISTS', k, 'a', 'x', '')).toEqual([yes, no, yes])
      expect(await client.ask('BF.CARD', k)).toBe(3)
    }
  })

  it('takes items as bytes, untouched', async () => {
    const k = fresh()
    const odd = [
      Buffer.from([0xff, 0, 13, 10]),
      Buffer.from([0xff, 0, 13]),
      Buffer.from('HTTP://A/'),
      Buffer.from('http://a/'),
    ]
    expect(await two.ask('BF.MADD', k, ...odd)).toEqual([1, 1, 1, 1])
    expect(await two.ask('BF.MADD', k, ...odd)).toEqual([0, 0, 0, 0])
  })

  it('BF.RESERVE, with the words of RedisBloom', async () => {
    const k = fresh()
    const reserve = (...rest: string[]) => two.ask('BF.RESERVE', k, ...rest)
    expect(await reserve('0.01')).toBe("!ERR wrong number of arguments for 'bf.reserve' command")
    expect(await reserve('0.01', '10', 'a', 'b', 'c', 'd')).toBe(
      "!ERR wrong number of arguments for 'bf.reserve' command",
    )
    expect(await reserve('x', '10')).toBe('!ERR bad error rate')
    expect(await reserve('1', '10')).toBe('!ERR error rate must be in the range (0.000000, 1.000000)')
    expect(await reserve('0', '10')).toBe('!ERR error rate must be in the range (0.000000, 1.000000)')
    expect(await reserve('0.01', 'x')).toBe('!ERR bad capacity')
    expect(await reserve('0.01', '0')).toBe('!ERR capacity must be in the range [1, 1073741824]')
    expect(await reserve('0.01', '10', 'EXPANSION')).toBe('!ERR no expansion')
    expect(await reserve('0.01', '10', 'EXPANSION', 'x')).toBe('!ERR bad expansion')
    expect(await reserve('0.01', '10', 'EXPANSION', '-1')).toBe(
      '!ERR expansion must be in the range [0, 32768]',
    )
    expect(await reserve('0.01', '10', 'NONSCALING', 'EXPANSION', '2')).toBe(
      '!Nonscaling filters cannot expand',
    )
    expect(await reserve('1e-3', '1000', 'expansion', '4')).toBe('OK')
    expect(await reserve('0.01', '10')).toBe('!ERR item exists')
    expect(await two.ask('TYPE', k)).toBe('MBbloom--')
  })

  it('a filter that shall not grow is full at its capacity, and then knows what it knew', async () => {
    for (const way of [['NONSCALING'], ['EXPANSION', '0']]) {
      const k = fresh()
      expect(await two.ask('BF.RESERVE', k, '0.0000001', '3', ...way)).toBe('OK')
      expect(await two.ask('BF.MADD', k, 'a', 'b', 'a', 'c', 'd', 'e')).toEqual([
        1,
        1,
        0,
        1,
        '!ERR non scaling filter is full',
      ])
      expect(await two.ask('BF.ADD', k, 'a')).toBe(0)
      expect(await two.ask('BF.ADD', k, 'd')).toBe('!ERR non scaling filter is full')
      expect(await two.ask('BF.MADD', k, 'd', 'a')).toEqual(['!ERR non scaling filter is full'])
      expect(await two.ask('BF.INFO', k, 'EXPANSION')).toEqual([null])
      expect(await two.ask('BF.CARD', k)).toBe(3)
      // In one pipeline: each command has its own answer.
      two.write(Buffer.concat(['b', 'x', 'c', 'y'].map((item) => encoded('BF.ADD', k, item))))
      const answers = [await two.read(), await two.read(), await two.read(), await two.read()].map(plain)
      const full = '!ERR non scaling filter is full'
      expect(answers).toEqual([0, full, 0, full])
    }
  })

  it('BF.INSERT, with all its options', async () => {
    const k = fresh()
    expect(await two.ask('BF.INSERT', k, 'NOCREATE', 'ITEMS', 'a')).toBe('!ERR not found')
    expect(
      await two.ask(
        'BF.INSERT',
        k,
        'CAPACITY',
        '5000',
        'ERROR',
        '0.001',
        'EXPANSION',
        '3',
        'ITEMS',
        'a',
        'b',
        'a',
      ),
    ).toEqual([1, 1, 0])
    expect(await two.ask('BF.INFO', k, 'CAPACITY')).toEqual([5000])
    expect(await two.ask('BF.INFO', k, 'EXPANSION')).toEqual([3])
    expect(await three.ask('BF.INSERT', k, 'NOCREATE', 'ITEMS', 'a', 'c')).toEqual([false, true])
    expect(await two.ask('BF.INSERT', fresh(), 'ITEMS')).toBe(
      "!ERR wrong number of arguments for 'bf.insert' command",
    )
    expect(await two.ask('BF.INSERT', fresh(), 'CAPACITY', '5', 'a')).toBe('!Unknown argument received')
    expect(await two.ask('BF.INSERT', fresh(), 'CAPACITY', '0', 'ITEMS', 'a')).toBe('!Bad capacity')
    expect(await two.ask('BF.INSERT', fresh(), 'ERROR', '2', 'ITEMS', 'a')).toBe('!Bad error rate')
    expect(await two.ask('BF.INSERT', fresh(), 'EXPANSION', 'x', 'ITEMS', 'a')).toBe('!Bad expansion')
    const n = fresh()
    expect(
      await two.ask('BF.INSERT', n, 'NONSCALING', 'ERROR', '1e-7', 'CAPACITY', '2', 'ITEMS', 'a', 'b', 'c'),
    ).toEqual([1, 1, '!ERR non scaling filter is full'])
  })

  it('BF.INFO: all fields and each, and growth as RedisBloom counts it', async () => {
    const k = fresh()
    expect(await two.ask('BF.INFO', k)).toBe('!ERR not found')
    await two.ask('BF.RESERVE', k, '0.01', '100')
    await two.ask('BF.MADD', k, ...Array.from({ length: 250 }, (_, i) => `i${i}`))
    const items = (await two.ask('BF.CARD', k)) as number
    expect(items).toBeGreaterThan(240)
    const all = (await two.ask('BF.INFO', k)) as unknown[]
    expect(all).toEqual([
      'Capacity',
      300,
      'Size',
      expect.any(Number),
      'Number of filters',
      2,
      'Number of items inserted',
      items,
      'Expansion rate',
      2,
    ])
    expect(await three.ask('BF.INFO', k)).toEqual(
      new Map<unknown, unknown>([
        ['Capacity', 300],
        ['Size', all[3]],
        ['Number of filters', 2],
        ['Number of items inserted', items],
        ['Expansion rate', 2],
      ]),
    )
    expect(await two.ask('BF.INFO', k, 'capacity')).toEqual([300])
    expect(await two.ask('BF.INFO', k, 'SIZE')).toEqual([all[3]])
    expect(await two.ask('BF.INFO', k, 'FILTERS')).toEqual([2])
    expect(await two.ask('BF.INFO', k, 'ITEMS')).toEqual([items])
    expect(await three.ask('BF.INFO', k, 'ITEMS')).toEqual(new Map([['Number of items inserted', items]]))
    expect(await two.ask('BF.INFO', k, 'BOGUS')).toBe('!Invalid information value')
    const one = fresh()
    await two.ask('BF.RESERVE', one, '0.01', '10', 'EXPANSION', '1')
    await two.ask('BF.MADD', one, ...Array.from({ length: 95 }, (_, i) => `i${i}`))
    expect(await two.ask('BF.INFO', one, 'FILTERS')).toEqual([10])
    expect(await two.ask('BF.INFO', one, 'CAPACITY')).toEqual([100])
  })

  it('BF.SCANDUMP and BF.LOADCHUNK carry a filter to another name', async () => {
    const [k, copy] = [fresh(), fresh()]
    await two.ask('BF.RESERVE', k, '0.001', '500000')
    const items = Array.from({ length: 1000 }, (_, i) => `https://example.com/${i}`)
    await two.ask('BF.MADD', k, ...items)
    expect(await two.ask('BF.SCANDUMP', fresh(), '0')).toBe('!ERR not found')
    expect(await two.ask('BF.SCANDUMP', k, 'x')).toBe('!Second argument must be numeric')
    let chunks = 0
    let last: [string, Buffer] = ['', Buffer.alloc(0)]
    for (let iterator = '0'; ; chunks++) {
      const [next, data] = (await two.ask('BF.SCANDUMP', k, iterator)) as [number, string]
      if (next === 0) {
        expect(data).toBe('')
        expect(await two.ask('BF.SCANDUMP', k, iterator)).toEqual([0, ''])
        break
      }
      last = [String(next), Buffer.from(data, 'latin1')]
      expect(await two.ask('BF.LOADCHUNK', copy, String(next), Buffer.from(data, 'latin1'))).toBe('OK')
      iterator = String(next)
    }
    expect(chunks).toBeGreaterThan(2)
    // Any iterator again, and the last chunk again: the client may not have got the reply.
    expect(await two.ask('BF.SCANDUMP', k, '1')).toEqual([expect.any(Number), expect.any(String)])
    expect(await two.ask('BF.LOADCHUNK', copy, ...last)).toBe('OK')
    expect(await two.ask('BF.LOADCHUNK', copy, last[0], 'x')).toBe('!ERR invalid offset - no link found')
    expect(await two.ask('BF.MEXISTS', copy, ...items)).toEqual(items.map(() => 1))
    expect(await two.ask('BF.CARD', copy)).toBe(await two.ask('BF.CARD', k))
    expect(await two.ask('BF.INFO', copy)).toEqual(await two.ask('BF.INFO', k))
    expect(await two.ask('BF.ADD', copy, items[5]!)).toBe(0)
    expect(await two.ask('BF.LOADCHUNK', copy, '1', 'x')).toBe('!ERR invalid offset - no link found')
    expect(await two.ask('BF.LOADCHUNK', fresh(), '1', 'x')).toBe('!ERR received bad data')
    expect(await two.ask('BF.LOADCHUNK', fresh(), '77', 'x')).toBe('!ERR not found')
    expect(await two.ask('BF.LOADCHUNK', fresh(), 'x', 'x')).toBe('!ERR Second argument must be numeric')
  })

  it('a dump that was changed on its way is refused', async () => {
    const [k, copy] = [fresh(), fresh()]
    await two.ask('BF.ADD', k, 'a')
    const [first, header] = (await two.ask('BF.SCANDUMP', k, '0')) as [number, string]
    expect(await two.ask('BF.LOADCHUNK', copy, String(first), Buffer.from(header, 'latin1'))).toBe('OK')
    const [next, data] = (await two.ask('BF.SCANDUMP', k, String(first))) as [number, string]
    const bytes = Buffer.from(data, 'latin1')
    bytes[bytes.length >> 1]! ^= 1
    expect(await two.ask('BF.LOADCHUNK', copy, String(next - 1), bytes)).toBe(
      '!ERR invalid offset - no link found',
    )
    expect(await two.ask('BF.LOADCHUNK', copy, String(next), bytes)).toMatch(/^!ERR received bad data: /)
    expect(await two.ask('EXISTS', copy)).toBe(0)
    const huge = `USBLOOM1${JSON.stringify({ bytes: 1e15, bloom: { capacity: 1, errorRate: 0.1, expansion: 2 } })}`
    expect(await two.ask('BF.LOADCHUNK', copy, '1', huge)).toMatch(/^!OOM a dump of 1000000000000000 bytes/)
  })

  it('does not touch a sieve of SIEVE.*', async () => {
    const s = fresh()
    await two.ask('SIEVE.CREATE', s)
    const wrong = '!WRONGTYPE Operation against a key holding the wrong kind of value'
    for (const words of [
      ['BF.ADD', s, 'a'],
      ['BF.MADD', s, 'a'],
      ['BF.INFO', s],
      ['BF.CARD', s],
      ['BF.RESERVE', s, '0.1', '5'],
      ['BF.INSERT', s, 'ITEMS', 'a'],
      ['BF.SCANDUMP', s, '0'],
    ]) {
      expect(await two.ask(...words)).toBe(wrong)
    }
    expect(await two.ask('BF.EXISTS', s, 'a')).toBe(0)
  })
})
