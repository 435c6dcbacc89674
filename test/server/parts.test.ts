// Long lists in parts: what is answered later does not depend on the caller's buffer, which is read into meanwhile.
import { expect, it } from 'vitest'
import { inParts, PartSize } from '../../src/server/parts.ts'
import { Batch } from '../../src/server/resp/batch.ts'

const decoder = new TextDecoder()

it('a list that is answered later is read from a copy, also of a Buffer', async () => {
  const texts = Array.from({ length: 200 }, (_, i) => `item-${String(i).padStart(4, '0')}`)
  const bytes = Buffer.from(texts.join(''))
  const starts = Uint32Array.from(texts, (text, i) => i * text.length)
  const ends = starts.map((start) => start + texts[0]!.length)
  const added: string[] = []
  const answers = inParts({ bytes, starts, ends }, new PartSize(), (part) => {
    for (let i = 0; i < part.starts.length; i++) {
      added.push(decoder.decode(part.bytes.subarray(part.starts[i], part.ends[i])))
    }
    for (const end = performance.now() + 30; performance.now() < end; );
    return new Uint8Array(part.starts.length)
  })
  expect(answers).toBeInstanceOf(Promise)
  expect(added.length).toBeLessThan(texts.length)
  bytes.fill('x')
  expect(await answers).toHaveLength(texts.length)
  expect(added).toEqual(texts)
})

it('a batch that waits keeps a copy of its bytes', () => {
  const batch = new Batch()
  const bytes = Buffer.from('abc')
  batch.bytes = bytes
  batch.keep()
  bytes.fill('x')
  expect(decoder.decode(batch.bytes)).toBe('abc')
})
