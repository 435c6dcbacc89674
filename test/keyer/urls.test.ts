// URLs of a call that waits: a copy, also of a Buffer, whose `slice` is a view.
import { expect, it } from 'vitest'
import { copyUrlsOf } from '../../src/keyer/urls.ts'

it('the copy does not change with the input', () => {
  const bytes = Buffer.from('https://example.com/\n')
  const before = new Uint8Array(bytes)
  const lines = copyUrlsOf({ lines: bytes })
  const items = copyUrlsOf({ items: { bytes, starts: Uint32Array.of(0), ends: Uint32Array.of(20) } })
  bytes.fill('x')
  expect(lines).toEqual({ lines: before })
  expect(items).toEqual({ items: { bytes: before, starts: Uint32Array.of(0), ends: Uint32Array.of(20) } })
})
