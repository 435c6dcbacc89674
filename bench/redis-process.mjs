// A redis-server of one's own, in memory only, on a free port, for the benchmark and for the tests.

import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

const running = new Set()
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

/** Starts one; it may take a moment until it answers. `gone` is kept when it has ended and its folder is away. */
export async function spawnRedis(args = []) {
  const port = await freePort()
  const folder = mkdtempSync(join(tmpdir(), 'urlsieve-redis-'))
  const fixed = [
    '--port',
    String(port),
    '--bind',
    '127.0.0.1',
    '--dir',
    folder,
    '--save',
    '',
    '--appendonly',
    'no',
  ]
  const child = spawn('redis-server', [...fixed, ...args], { stdio: 'ignore' })
  running.add(child)
  const gone = new Promise((resolve) => {
    child.once('exit', () => {
      running.delete(child)
      rmSync(folder, { recursive: true, force: true })
      resolve()
    })
  })
  return { port, url: `redis://127.0.0.1:${port}`, child, gone }
}

/** Ports and cluster buses of this process: servers may be started side by side. */
const taken = new Set()

/** A port whose cluster bus, 10,000 further, is free as well. */
export async function freePort() {
  const isFree = (port) =>
    new Promise((resolve) => {
      const server = createServer().once('error', () => resolve(false))
      server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
    })
  for (;;) {
    const port = 11_000 + Math.floor(Math.random() * 20_000)
    const both = [port, port + 10_000]
    if (both.some((one) => taken.has(one))) continue
    for (const one of both) taken.add(one)
    if ((await isFree(port)) && (await isFree(port + 10_000))) return port
  }
}
