// The end: running requests are finished, listeners let go, what takes too long is cut, and the port is free again.
import { expect, test } from 'vitest'
import { dial, listening } from './served.ts'

const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`
const head =
  'POST /v1/sieves/s/add HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n'

test('a running request is finished, new connections are refused, idle ones closed', async () => {
  const { port, close, registry } = await listening()
  await registry.create('s', {})
  const [running, idle, silent] = [await dial(port), await dial(port), await dial(port)]
  running.send(head + chunk('https://a/1\n'))
  await running.until(/a\/1\n/)
  idle.send('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n')
  await idle.until(/ok\n/)
  const closing = close()
  await idle.ended
  await expect(dial(port)).rejects.toThrow('ECONNREFUSED')
  running.send(`${chunk('https://a/2\n')}0\r\n\r\n`)
  expect(await running.ended).toMatch(/a\/2\n\r\n0\r\n\r\n$/)
  silent.socket.destroy()
  await closing
})

test('what does not end within graceMs is cut', async () => {
  const { port, close, registry } = await listening({ limits: { graceMs: 300 } })
  await registry.create('s', {})
  const [running, silent] = [await dial(port), await dial(port)]
  running.send(head + chunk('https://a/1\n'))
  await running.until(/a\/1\n/)
  const started = performance.now()
  await close()
  expect(performance.now() - started).toBeLessThan(3000)
  expect(await running.ended).not.toMatch(/0\r\n\r\n$/)
  await silent.ended
})

test('listeners of the live feed are let go at once', async () => {
  const { port, close } = await listening({ limits: { graceMs: 60_000 } })
  const listener = await dial(port)
  listener.send('GET /v1/live HTTP/1.1\r\nHost: localhost\r\n\r\n')
  await listener.until(/data: /)
  await close()
  expect(await listener.ended).toMatch(/0\r\n\r\n$/)
})

test('closing again does nothing; a port that is taken is said', async () => {
  const one = await listening()
  await expect(listening({ port: one.port })).rejects.toThrow('EADDRINUSE')
  await one.close()
  await one.close()
})
