// One writer at a time: the second is told who the first is; a lock whose process is gone is taken over; readers need
// none and are never disturbed by a writer that replaces its files. Some rounds; URLSIEVE_FULL=1: more.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { Sieve } from '../../src/sieve.ts'
import { listStore } from '../../src/store/layout.ts'
import { batchOf } from '../crash/batches.mjs'
import { builtLibrary } from '../support/built.ts'
import { newFolders } from '../support/folders.ts'

const ROUNDS = process.env.URLSIEVE_FULL === '1' ? 100 : 4
const READERS = process.env.URLSIEVE_FULL === '1' ? 60 : 20
const writer = fileURLToPath(new URL('../crash/writer.mjs', import.meta.url))
const built = builtLibrary()
const newFolder = newFolders()

/** A process that writes to the store, and what it said so far. */
async function started(
  folder: string,
  options: object,
): Promise<{ child: ChildProcess; said: () => string }> {
  const argument = JSON.stringify({ built, folder, options, from: 1, batchUrls: 20 })
  const child = spawn(process.execPath, [writer, argument], { stdio: ['ignore', 'pipe', 'inherit'] })
  let out = ''
  child.stdout!.on('data', (chunk) => {
    out += chunk
  })
  while (!out.includes('done 3\n')) await new Promise((resolve) => setTimeout(resolve, 5))
  return { child, said: () => out }
}

async function ended(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL')
  await once(child, 'close')
}

const lockOf = (folder: string) => join(folder, 'lock')
/** The file by which a lock with this text is taken over. */
const overOf = (folder: string, text: string) =>
  `${lockOf(folder)}.over-${createHash('sha256').update(text).digest('hex').slice(0, 16)}`

/** A process that takes the lock of a folder and keeps it; `command` goes before it. It says its own number. */
async function holding(folder: string, command: readonly string[] = []): Promise<ChildProcess> {
  const script = `
    import { takeLock } from '${built}/store/lock.js'
    takeLock(process.argv[1])
    console.log('taken ' + process.pid)
    setInterval(() => {}, 1000)`
  const [file, ...rest] = [...command, process.execPath]
  const args = [...rest, '--input-type=module', '-e', script, lockOf(folder)]
  const child = spawn(file!, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  await once(child.stdout!, 'data')
  return child
}

const held = (folder: string) => expect(Sieve.open(folder)).rejects.toMatchObject({ code: 'locked' })

describe('the lock of a store', () => {
  it('names the process that writes, and is taken over when that was killed', async () => {
    const folder = newFolder()
    const { child } = await started(folder, { profile: 'raw' })
    try {
      await expect(Sieve.open(folder)).rejects.toMatchObject({
        code: 'locked',
        message: expect.stringContaining(`is held by process ${child.pid} on ${hostname()} since `),
      })
      expect((await Sieve.open(folder, { readOnly: true })).has(batchOf(1, 1)[0]!)).toBe(true)
    } finally {
      await ended(child)
    }
    expect(existsSync(lockOf(folder))).toBe(true)
    const sieve = await Sieve.open(folder)
    expect(JSON.parse(readFileSync(lockOf(folder), 'utf8')).pid).toBe(process.pid)
    expect(sieve.has(batchOf(1, 1)[0]!)).toBe(true)
    await sieve.close()
    expect(readdirSync(folder).filter((name) => name.startsWith('lock'))).toEqual([])
  })

  it('is refused to the same process too, and given back by close', async () => {
    const folder = newFolder()
    const sieve = await Sieve.open(folder)
    await expect(Sieve.open(folder)).rejects.toMatchObject({ code: 'locked' })
    await sieve.close()
    await (await Sieve.open(folder)).close()
  })

  const now = new Date().toISOString()
  const mine = { pid: process.pid, host: hostname(), started: null, since: now }
  it.each([
    ['a number that another process has now', JSON.stringify({ ...mine, started: '1' })],
    ['a machine that was started anew', JSON.stringify({ ...mine, boot: 'before' })],
    ['a process that is gone', JSON.stringify({ ...mine, pid: 2 ** 22 + 1 })],
    ['nothing, since the power went', ''],
    ['half a line', '{"pid":12'],
  ])('is taken over when it names %s', async (_, text) => {
    const folder = newFolder()
    await (await Sieve.open(folder)).close()
    writeFileSync(lockOf(folder), text)
    const sieve = await Sieve.open(folder)
    await sieve.close()
    expect(readdirSync(folder).filter((name) => name.startsWith('lock'))).toEqual([])
  })

  it('is taken over although a taker was killed in its turn', async () => {
    const folder = newFolder()
    await (await Sieve.open(folder)).close()
    const gone = JSON.stringify({ ...mine, pid: 2 ** 22 + 1 })
    writeFileSync(lockOf(folder), gone)
    writeFileSync(`${lockOf(folder)}.takeover`, gone) // as the first version left it
    writeFileSync(overOf(folder, gone), JSON.stringify({ ...mine, pid: 2 ** 22 + 2 }))
    const sieve = await Sieve.open(folder)
    await sieve.close()
    expect(readdirSync(folder).filter((name) => name.startsWith('lock'))).toEqual([])
  })

  it('of another machine is respected', async () => {
    const folder = newFolder()
    await (await Sieve.open(folder)).close()
    writeFileSync(lockOf(folder), JSON.stringify({ ...mine, host: 'elsewhere', started: '1' }))
    await expect(Sieve.open(folder)).rejects.toMatchObject({
      code: 'locked',
      message: expect.stringMatching(/on elsewhere since .*delete the lock when that machine is gone/),
    })
  })

  const canUnshare = spawnSync('unshare', ['--pid', '--fork', 'true']).status === 0
  it.skipIf(!canUnshare)(
    'holds for a process of another container, whose number means nothing here',
    async () => {
      const folder = newFolder()
      const child = await holding(folder, ['unshare', '--pid', '--fork', '--kill-child'])
      await held(folder)
      await ended(child)
      await (await Sieve.open(folder)).close()
    },
  )

  it('holds whatever the lock says of host, start of the machine and process', async () => {
    const folder = newFolder()
    const child = await holding(folder)
    const said = JSON.parse(readFileSync(lockOf(folder), 'utf8'))
    for (const change of [
      { boot: 'another' },
      { host: 'elsewhere' },
      { pid: 2 ** 22 + 1 },
      { started: '1' },
    ]) {
      writeFileSync(lockOf(folder), JSON.stringify({ ...said, ...change }))
      await held(folder)
    }
    // On a local disk a start of the machine, or a new container, makes no difference: nobody listens any more.
    await ended(child)
    await (await Sieve.open(folder)).close()
    expect(readdirSync(folder).filter((name) => name.startsWith('lock'))).toEqual([])
  })

  it('is given back by a process that was killed and that nobody has waited for', async () => {
    const folder = newFolder()
    const child = await holding(folder, ['sh', '-c', '"$@" & exec sleep 1000', 'sh'])
    try {
      const { pid } = JSON.parse(readFileSync(lockOf(folder), 'utf8'))
      await held(folder)
      process.kill(pid, 'SIGKILL')
      const stateOf = () => /\) (.)/.exec(readFileSync(`/proc/${pid}/stat`, 'latin1'))![1]
      while (existsSync('/proc/self/stat') && stateOf() !== 'Z')
        await new Promise((resolve) => setTimeout(resolve, 5))
      // Its other threads may end a little later; it stays a zombie until the test is over.
      for (let sieve: Sieve | null = null; !sieve; ) {
        sieve = await Sieve.open(folder).catch(() => null)
        await sieve?.close()
      }
      if (existsSync('/proc/self/stat')) expect(stateOf()).toBe('Z')
    } finally {
      await ended(child)
    }
  })

  it('works under a path that is longer than that of a socket may be', async () => {
    const folder = join(newFolder(), 'x'.repeat(120))
    mkdirSync(folder)
    const child = await holding(folder)
    await held(folder)
    await ended(child)
    await (await Sieve.open(folder)).close()
    expect(readdirSync(folder).filter((name) => name.startsWith('lock'))).toEqual([])
  })

  it('goes to one of many who take over a stale one at the same time', async () => {
    const folder = newFolder()
    await (await Sieve.open(folder)).close()
    const script = `
      import { takeLock } from '${built}/store/lock.js'
      process.stdin.once('data', () => {
        try { takeLock(process.argv[1]); console.log('taken') } catch (error) { console.log(error.code) }
        setInterval(() => {}, 1000)
      })
      console.log('ready')`
    for (let round = 0; round < ROUNDS; round++) {
      const gone = JSON.stringify({ ...mine, pid: 2 ** 22 + 1 })
      writeFileSync(lockOf(folder), gone)
      // Every second time one was killed while it took the lock over.
      if (round % 2 === 1) writeFileSync(overOf(folder, gone), JSON.stringify({ ...mine, pid: 2 ** 22 + 2 }))
      const children = Array.from({ length: 4 }, () =>
        spawn(process.execPath, ['--input-type=module', '-e', script, lockOf(folder)], {
          stdio: ['pipe', 'pipe', 'inherit'],
        }),
      )
      const said = children.map(() => '')
      for (const [i, child] of children.entries()) child.stdout.on('data', (chunk) => (said[i] += chunk))
      const until = async (lines: number) => {
        while (said.some((text) => text.split('\n').length <= lines))
          await new Promise((resolve) => setTimeout(resolve, 2))
      }
      await until(1)
      for (const child of children) child.stdin.write('go\n')
      await until(2)
      await Promise.all(children.map(ended))
      expect(said.map((text) => text.split('\n')[1]).sort()).toEqual(['locked', 'locked', 'locked', 'taken'])
    }
  }, 600_000)
})

describe('readers while a writer writes', () => {
  it('open again and again while logs are folded under them', async () => {
    const folder = newFolder()
    const { child, said } = await started(folder, { profile: 'raw', foldBytes: 3000 })
    try {
      const newest = () => Math.max(...listStore(folder).snapshots)
      // Until so many snapshots were made meanwhile, however busy the machine is.
      for (let i = 0; i < READERS || newest() < 6; i++) {
        const done = [...said().matchAll(/done (\d+)/g)].map((match) => Number(match[1]))
        const sieve = await Sieve.open(folder, { readOnly: true })
        for (const batch of done.slice(-50)) {
          expect(sieve.hasMany(batchOf(batch, 20)).indexOf(0), `batch ${batch} of ${done.length}`).toBe(-1)
        }
        expect(sieve.stats().urls).toBeGreaterThanOrEqual(20 * done.length)
        expect(sieve.has('https://never.example/')).toBe(false)
        await new Promise((resolve) => setImmediate(resolve)) // what the writer said meanwhile
      }
    } finally {
      await ended(child)
    }
  })
})
