// Negatives made from the URLs of a list: URLs that no filter was given.
import { describe, expect, it } from 'vitest'
import { bareUrls } from '../../src/lab/bare-urls.ts'
import type { Lab } from '../../src/lab/experiment.ts'
import { keptLines, LineWriter } from '../../src/lab/line-writer.ts'
import { numberedLines, orderBlindLines, Pieces, recombinedLines } from '../../src/lab/negatives.ts'
import { randomFrom } from '../support/random.mjs'
import { smallLab } from './small-lab.ts'

const encoder = new TextEncoder()
const decoder = new TextDecoder()

describe('negatives', () => {
  const text = (lines: Uint8Array) => decoder.decode(lines).split('\n').slice(0, -1)

  it('takes every scheme off, and what is then the same only once', async () => {
    const some = ['http://a/1', 'https://a/1', 'http://http://b/2', 'a:80/x', 'c/d', 'ftp://e//f']
    const lab: Lab = smallLab(some)
    const list = await bareUrls(lab, 10)
    expect(Array.from({ length: list.count }, (_, i) => list.at(i))).toEqual([
      'a/1',
      'b/2',
      'a:80/x',
      'c/d',
      'e//f',
    ])
    expect(text(numberedLines(list, 1, 3))).toEqual(['b/22', 'a:80/x3'])
  })

  it('makes each kind as it is described', async () => {
    const some = ['h/a/b', 'h/b/c', 'h/c/a/x', 'g/y/y', 'k/a', 'k/z', 'h/b/y', 'm/y/b']
    const lab: Lab = smallLab(some)
    const pieces = new Pieces(await bareUrls(lab, 10), 4)
    expect([...pieces.counts]).toEqual([3, 3, 4, 3, 2, 2, 3, 3])
    const { swapped, repeated } = await orderBlindLines(lab, pieces, 100)
    // Layer 2 knows a b c y z; layer 3 knows b c a y.
    expect(text(swapped)).toEqual(['h/b/a', 'h/c/b', 'h/a/c/x', 'h/y/b', 'm/b/y'])
    expect(text(repeated)).toEqual(['g/a/a', 'g/b/b', 'g/c/c', 'g/y/y'])
    const layers = [0, 1, 2, 3].map((layer) => new Set(some.map((url) => url.split('/')[layer])))
    const mixed = text(recombinedLines(pieces, 50, randomFrom(3)))
    expect(mixed).toHaveLength(50)
    for (const url of mixed) {
      for (const [layer, piece] of url.split('/').entries()) expect(layers[layer]!.has(piece)).toBe(true)
    }
  })

  it('writes and keeps lines whatever their length', () => {
    const writer = new LineWriter(1)
    for (let i = 0; i < 300; i++)
      writer
        .copy(encoder.encode('x'.repeat(i)), 0, i)
        .slash()
        .number(i)
        .end()
    const lines = text(writer.lines)
    expect(lines[299]).toBe(`${'x'.repeat(299)}/299`)
    const { lines: kept, count: left } = keptLines(
      writer.lines,
      Uint8Array.from(lines, (_, i) => i % 2),
    )
    expect(text(kept)).toEqual(lines.filter((_, i) => i % 2))
    expect(left).toBe(150)
  })
})
