// The server's password: all of its bytes and no others.
import { inspect } from 'node:util'
import { expect, test } from 'vitest'
import { Password } from '../../src/server/password.ts'

test.each(['secret', 'sésame: öffne dich', 'x'.repeat(1000), ' ', '\0'])(
  '%j is itself, and nothing else',
  (text) => {
    const password = new Password(text)
    const bytes = Buffer.from(text)
    expect(password.matches(bytes)).toBe(true)
    const first = Buffer.from(bytes)
    first[0]! ^= 1
    const last = Buffer.from(bytes)
    last[last.length - 1]! ^= 1
    for (const wrong of [
      first,
      last,
      Buffer.alloc(0),
      bytes.subarray(0, -1),
      bytes.subarray(1),
      Buffer.concat([bytes, Buffer.of(0)]),
      Buffer.concat([bytes, bytes]),
    ]) {
      expect(password.matches(wrong)).toBe(false)
    }
  },
)

test('is UTF-8, whatever else could be read in the bytes', () => {
  const password = new Password('é')
  expect(password.matches(Buffer.from('é', 'utf8'))).toBe(true)
  expect(password.matches(Buffer.from('é', 'latin1'))).toBe(false)
})

test('does not show: neither printed nor as JSON', () => {
  const password = new Password('secret')
  expect(inspect(password, { showHidden: true, depth: 9 })).not.toContain('secret')
  expect(JSON.stringify(password)).toBe('{}')
})
