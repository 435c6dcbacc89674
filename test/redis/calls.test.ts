// What a call that is given up says, on a client without a server.
import { expect, it } from 'vitest'
import { Calls } from '../../src/redis/calls.ts'

it('names the refusal before the attempt that the deadline cut', async () => {
  let sent = 0
  const send = () =>
    sent++ === 0
      ? Promise.reject(new Error('LOADING Redis is loading the dataset in memory'))
      : new Promise(() => {})
  const calls = new Calls({ send, isCluster: false }, [], { timeoutMs: 5000, retryMs: 300 })
  await expect(calls.command('key', ['GET', 'key'])).rejects.toThrow(/^Redis does not answer, .*: LOADING /)
})
