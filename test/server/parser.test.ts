// The RESP parser: every vector whole, byte by byte and in random cuts gives the same commands; what is wrong is said;
// and what has been read of a long command is not read again.
import { describe, expect, it } from 'vitest'
import { Parser } from '../../src/server/resp/parser.ts'
import { randomFrom } from '../support/random.mjs'
import { encoded } from './raw.ts'

const LIMITS = { itemBytes: 1000, commandItems: 100 }

/** The commands in a stream that comes in these cuts, as a connection would feed them; what is wrong at the end. */
function parsed(stream: Buffer, cuts: readonly number[], limits = LIMITS): unknown[] {
  const parser = new Parser(limits)
  const found: unknown[] = []
  let from = 0
  for (const cut of [...cuts, stream.length]) {
    // What is left moves to the front of another buffer, with what has come.
    const left = parser.bytes.subarray(parser.at, parser.size)
    parser.bytes = Buffer.concat([left, stream.subarray(from, cut), Buffer.from('*9\r\n$')])
    parser.at = 0
    parser.size = left.length + cut - from
    from = cut
    for (let next = parser.next(); next !== 'more'; next = parser.next()) {
      if (next === 'error') return [...found, { error: parser.error }]
      found.push(Array.from({ length: parser.count }, (_, i) => parser.argument(i).toString('latin1')))
      parser.pass()
    }
  }
  if (parser.isHalf) found.push('half')
  return found
}

const vectors: readonly (readonly [name: string, stream: string, commands: readonly unknown[]])[] = [
  ['a command', '*1\r\n$4\r\nPING\r\n', [['PING']]],
  ['two of them', '*1\r\n$4\r\nPING\r\n*2\r\n$4\r\nECHO\r\n$2\r\nhi\r\n', [['PING'], ['ECHO', 'hi']]],
  ['an empty argument', '*2\r\n$4\r\nECHO\r\n$0\r\n\r\n', [['ECHO', '']]],
  ['CRLF, NUL and high bytes in an argument', '*1\r\n$7\r\na\r\n\0\xff*b\r\n', [['a\r\n\0\xff*b']]],
  [
    'a command within an argument',
    '*2\r\n$1\r\na\r\n$14\r\n*1\r\n$4\r\nPING\r\n\r\n',
    [['a', '*1\r\n$4\r\nPING\r\n']],
  ],
  ['an empty array is passed over', '*0\r\n*-1\r\n*1\r\n$1\r\na\r\n', [['a']]],
  ['a line', 'PING\r\n', [['PING']]],
  ['a line that ends in LF only', 'SET a  b\n', [['SET', 'a', 'b']]],
  ['empty lines', '\r\n\n \r\nPING\n', [['PING']]],
  ['quotes', `ECHO "a b\\r\\n\\x41\\"" 'c\\'d' ""\r\n`, [['ECHO', 'a b\r\nA"', "c'd", '']]],
  ['lines and arrays in turn', 'PING\r\n*1\r\n$1\r\na\r\nQUIT\n', [['PING'], ['a'], ['QUIT']]],
  ['half a command', '*2\r\n$4\r\nECHO\r\n$2\r\nh', ['half']],
  ['half a number', '*1\r\n$1', ['half']],
  ['half a line', 'PIN', ['half']],
  ['a quote left open', 'ECHO "a\r\n', [{ error: 'Protocol error: unbalanced quotes in request' }]],
  ['letters after a quote', 'ECHO "a"b\r\n', [{ error: 'Protocol error: unbalanced quotes in request' }]],
  ['no bulk string', '*1\r\n:4\r\n', [{ error: "Protocol error: expected '$', got ':'" }]],
  ['no number of arguments', '*x\r\n', [{ error: 'Protocol error: invalid multibulk length' }]],
  ['a number too long', '*12345678901\r\n', [{ error: 'Protocol error: invalid multibulk length' }]],
  ['no length', '*1\r\n$\r\n', [{ error: 'Protocol error: invalid bulk length' }]],
  ['a length below zero', '*1\r\n$-1\r\n', [{ error: 'Protocol error: invalid bulk length' }]],
  ['no CRLF after a number', '*1\n$4\r\n', [{ error: 'Protocol error: invalid multibulk length' }]],
  [
    'no CRLF after an argument',
    '*1\r\n$1\r\nabc',
    [{ error: 'Protocol error: expected CRLF after an argument' }],
  ],
  [
    'too many arguments',
    '*101\r\n',
    [{ error: 'a command of 101 arguments: expected at most 100 (--max-items)' }],
  ],
  [
    'too long an item',
    '*1\r\n$1001\r\n',
    [{ error: 'an item of 1001 bytes: expected at most 1000 (--max-item-bytes)' }],
  ],
  [
    'what came before an error',
    'PING\r\n*1\r\nx',
    [['PING'], { error: "Protocol error: expected '$', got 'x'" }],
  ],
]

describe('the RESP parser', () => {
  it.for(vectors)('%s: whole, byte by byte, in every cut and in random cuts', ([, text, commands]) => {
    const stream = Buffer.from(text, 'latin1')
    const random = randomFrom(stream.length)
    const everywhere = Array.from(stream, (_, i) => i)
    expect(parsed(stream, [])).toEqual(commands)
    expect(parsed(stream, everywhere)).toEqual(commands)
    for (const cut of everywhere) expect(parsed(stream, [cut])).toEqual(commands)
    for (let i = 0; i < 200; i++) {
      expect(
        parsed(
          stream,
          everywhere.filter(() => random() < 0.3),
        ),
      ).toEqual(commands)
    }
  })

  it.for(['*2\r\n$4\r\nECHO\r\n$1\r\na\r\n', 'ECHO a\r\n'])(
    'a command found stays found when its bytes are moved: %j',
    (text) => {
      const parser = new Parser(LIMITS)
      const stream = Buffer.from(`${text}PING\r\n`)
      parser.bytes = Buffer.concat([Buffer.alloc(100), stream])
      parser.at = 100
      parser.size = parser.bytes.length
      expect(parser.next()).toBe('command')
      parser.bytes = Buffer.concat([stream, Buffer.alloc(10)])
      parser.at = 0
      parser.size = stream.length
      expect(parser.next()).toBe('command')
      expect([String(parser.argument(0)), String(parser.argument(1))]).toEqual(['ECHO', 'a'])
      parser.pass()
      expect(parser.next()).toBe('command')
      expect([parser.count, String(parser.argument(0))]).toEqual([1, 'PING'])
      parser.pass()
      expect(parser.next()).toBe('more')
      expect(parser.isHalf).toBe(false)
    },
  )

  it('a line without an end is refused past 64 KiB', () => {
    const long = Buffer.alloc(70_000, 'a')
    expect(parsed(long, [10, 60_000])).toEqual([{ error: 'Protocol error: too big inline request' }])
    expect(parsed(Buffer.concat([long, Buffer.from('\r\n')]), [])).toEqual([
      { error: 'Protocol error: too big inline request' },
    ])
  })

  it('64 KiB of empty lines are no deep recursion', () => {
    expect(parsed(Buffer.concat([Buffer.alloc(65_536, '\n'), Buffer.from('PING\n')]), [])).toEqual([['PING']])
  })

  it('a command of 50,000 items that comes in 5,000 pieces is read once', () => {
    const items = Array.from({ length: 50_000 }, (_, i) => `https://example.com/${i}`)
    const stream = encoded('BF.MADD', 'k', ...items)
    const parser = new Parser({ itemBytes: 1000, commandItems: 100_000 })
    let looks = 0
    // Counts each look at a byte: the whole stream twice at most, by any number of pieces.
    parser.bytes = new Proxy(stream, {
      get(target, name) {
        if (typeof name === 'string' && /^\d+$/.test(name)) looks++
        const value: unknown = Reflect.get(target, name)
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
    const step = Math.ceil(stream.length / 5000)
    let found = 'more'
    for (let size = step; found === 'more'; size += step) {
      parser.size = Math.min(size, stream.length)
      found = parser.next()
    }
    expect(found).toBe('command')
    expect(parser.count).toBe(50_002)
    expect(parser.starts[50_001]).toBe(stream.length - 2 - items.at(-1)!.length)
    expect(looks).toBeLessThan(stream.length)
  })
})
