// Reads forged files of one kind, one after the other. Before each, its number goes into the file `at` of the folder; "FAIL
// 12 …" is printed when number 12 ends in anything but an error of one line or an honest answer. Its argument is JSON:
// { built, kind, seed, from, count, folder, at }.
import { createHash } from 'node:crypto'
import {
  cpSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { randomFrom } from '../support/random.mjs'
import { exact, fresh, frontier, index, lay, others, put, sieveFiles, stores, urls } from './fixtures.mjs'
import { below, forgedBytes, forgedJson, forgedLog, forgedSieve, pick } from './forge.mjs'
import { forgedLevel } from './forge-level.mjs'

const { built, kind, seed, from, count, folder, at } = JSON.parse(process.argv[2])
const load = (path) => import(pathToFileURL(join(built, path)).href)
const { Sieve, SieveError, freeze } = await load('index.js')
const { verifySieve } = await load('store/verify.js')
const { repairStore } = await load('store/repair.js')
mkdirSync(folder, { recursive: true })

const say = (line) => writeSync(1, `${line}\n`)

class Wrong extends Error {}
function expect(holds, what) {
  if (!holds) throw new Wrong(what)
}

/** Whether an error is one of ours, in one line. */
const isClear = (error) =>
  (error instanceof SieveError || error?.constructor?.name === 'InputError') &&
  error.message.length < 2000 &&
  !error.message.includes('\n')

const asked = [...urls, ...others]

// Asks, adds and forgets: whatever a forger wrote, what is added is there afterwards, and comes back from a file.
async function use(sieve, random) {
  const answers = [...sieve.hasMany(asked)]
  JSON.stringify(sieve.stats())
  sieve.explain(urls[0])
  const { filter } = sieve.plan
  if (filter !== 'binary-fuse') {
    sieve.addMany(fresh)
    const seen = sieve.hasMany(fresh)
    if (filter !== 'window') expect(!seen.includes(0), 'a URL that was added is not there')
    if ('delete' in sieve) {
      sieve.delete(fresh[0])
      expect(!sieve.has(fresh[0]), 'a URL that was deleted is there')
    }
    sieve.hasUnder?.('site1.example/shop/')
  }
  if (filter === 'fingerprint' && random() < 0.1) {
    const frozen = await freeze(sieve, { bits: 8 }).catch(refusal)
    if (frozen) expect(!frozen.hasMany(fresh.slice(1)).includes(0), 'a frozen sieve has lost a URL')
  }
  if (random() < 0.1) {
    const path = join(folder, 'again.sieve')
    const before = [...sieve.hasMany(asked)]
    const isSaved = await sieve.save(path).then(() => true, refusal)
    if (!isSaved) return answers
    const again = await Sieve.load(path)
    expect(
      filter === 'window' || String(again.hasMany(asked)) === String(before),
      'other answers after a round trip',
    )
    if (filter !== 'binary-fuse') await again.merge(sieve).catch(refusal)
  }
  return answers
}

const refusal = (error) => {
  if (!isClear(error)) throw error
}

async function sieves() {
  const files = await sieveFiles(built, folder)
  const usual = files.filter(({ isLarge }) => !isLarge)
  const path = join(folder, 'forged.sieve')
  return async (random, i) => {
    const file = i % 97 === 0 ? pick(random, files) : pick(random, usual)
    const { bytes, isSealed } = forgedSieve(random, file.bytes)
    put(path, bytes)
    let trouble = null
    try {
      const sieve = await Sieve.load(path)
      const answers = await use(sieve, random)
      expect(
        isSealed || String(answers) === String(file.answers),
        `${file.name}: other answers, and no checksum found it`,
      )
    } catch (error) {
      if (!isClear(error)) throw error
      trouble = error
    }
    if (i % 9 === 0 && trouble?.code !== 'memory') {
      const [report] = await verifySieve(path)
      expect(
        report.damage.length > 0 === (trouble !== null),
        `verify: ${report.damage[0]}; open: ${trouble?.message}`,
      )
    }
    if (trouble) throw trouble
  }
}

async function storesInFolders() {
  const { storedKeys } = await load('store/stored-keys.js')
  const made = await stores(built, folder)
  return async (random, i) => {
    const { name, path, files } = pick(random, made)
    const file = pick(random, files)
    const forged = file.name.startsWith('log-')
      ? forgedLog(random, file.bytes)
      : file.name.endsWith('.sieve')
        ? forgedSieve(random, file.bytes)
        : { bytes: forgedBytes(random, file.bytes), isSealed: false }
    lay(path, files, { [file.name]: forged.bytes })
    let trouble = null
    try {
      const sieve = await Sieve.open(path, { readOnly: true })
      const seen = [...sieve.hasMany(asked)]
      JSON.stringify(sieve.stats())
      sieve.explain(urls[0])
      if (random() < 0.3) await written(path, random)
      if (!forged.isSealed && name !== 'window')
        expect(!seen.slice(0, 30).includes(0), 'a URL of the snapshot is lost')
      if (name.endsWith('keys')) for (const key of storedKeys(path)) expect(key.length >= 0, 'a key')
    } catch (error) {
      if (!isClear(error)) throw error
      trouble = error
    }
    if (i % 5 === 0) {
      const damage = (await verifySieve(path)).flatMap((report) => report.damage)
      const isKeys = file.name.endsWith('.gz') // opening does not read them, verify does
      expect(
        damage.length > 0 === (trouble !== null) || isKeys,
        `verify: ${damage[0]}; open: ${trouble?.message}`,
      )
    }
    if (trouble && i % 3 === 0) await mended(path)
    if (trouble) throw trouble
  }
}

// What a writer adds to a forged store is there when it is opened again.
async function written(path, random) {
  const copy = `${path}-written`
  rmSync(copy, { recursive: true, force: true })
  cpSync(path, copy, { recursive: true })
  const writer = await Sieve.open(copy, { durability: 'never' })
  const { filter } = writer.plan
  await use(writer, random)
  await writer.close()
  const reader = await Sieve.open(copy, { readOnly: true })
  if (filter !== 'window')
    expect(!reader.hasMany(fresh.slice(1)).includes(0), 'a URL that was written is lost')
}

// What can be kept of a forged store can be opened, and is whole.
async function mended(path) {
  const repaired = `${path}-repaired`
  rmSync(repaired, { recursive: true, force: true })
  cpSync(path, repaired, { recursive: true })
  rmSync(join(repaired, 'lock'), { force: true })
  try {
    await repairStore(repaired)
  } catch (error) {
    return refusal(error)
  }
  const damage = (await verifySieve(repaired)).flatMap((report) => report.damage)
  expect(damage.length === 0, `damaged after the repair: ${damage[0]}`)
  const sieve = await Sieve.open(repaired, { readOnly: true })
  sieve.hasMany(asked)
}

// A client that waits for one reply of one line at a time; arrays are read to their end.
class Client {
  #socket
  #waiting = []
  #text = ''
  constructor(port) {
    this.#socket = connect(port, '127.0.0.1')
    this.#socket.on('data', (bytes) => {
      this.#text += bytes.toString('latin1')
      while (this.#waiting.length > 0) {
        const end = replyEnd(this.#text, 0)
        if (end < 0) return
        this.#waiting.shift()(this.#text.slice(0, end))
        this.#text = this.#text.slice(end)
      }
    })
    this.#socket.on('close', () => {
      for (const answer of this.#waiting) answer('closed')
    })
  }
  async ask(...parts) {
    return (await this.askAll([parts]))[0]
  }
  askAll(commands) {
    if (this.#socket.destroyed) return Promise.resolve(commands.map(() => 'closed'))
    const bytes = []
    for (const parts of commands) {
      bytes.push(Buffer.from(`*${parts.length}\r\n`))
      for (const part of parts) {
        const content = Buffer.isBuffer(part) ? part : Buffer.from(String(part))
        bytes.push(Buffer.from(`$${content.length}\r\n`), content, Buffer.from('\r\n'))
      }
    }
    this.#socket.write(Buffer.concat(bytes))
    return Promise.all(commands.map(() => new Promise((resolve) => this.#waiting.push(resolve))))
  }
  close() {
    this.#socket.destroy()
  }
}

// Where the reply that begins at `at` ends; -1 when it is not all there.
function replyEnd(text, at) {
  const line = text.indexOf('\r\n', at)
  if (line < 0) return -1
  const size = Number(text.slice(at + 1, line))
  if (text[at] === '$' && size >= 0) return line + size + 4 <= text.length ? line + size + 4 : -1
  let end = line + 2
  if (text[at] === '*') for (let i = 0; i < size && end >= 0; i++) end = replyEnd(text, end)
  return end
}

const CHUNK_BYTES = 512 * 1024

async function dumps() {
  const { LocalRegistry } = await load('server/local-registry.js')
  const { openResp } = await load('server/resp/index.js')
  const { respLimits } = await load('server/resp/limits.js')
  const { serverInfo } = await load('server/info.js')
  const registry = await LocalRegistry.open({ memoryBytes: 64 * 1024 ** 2, mostSieves: 10 })
  const listener = await openResp(registry, {
    host: '127.0.0.1',
    port: 0,
    limits: respLimits,
    server: serverInfo('0.0.0-test'),
    log: () => {},
    isDurable: false,
  })
  const files = (await sieveFiles(built, folder, { profile: 'raw' })).filter(({ isLarge }) => !isLarge)
  const client = new Client(listener.port)
  const headOf = (bytes) => ({ bytes, bloom: { capacity: 100, errorRate: 0.01, expansion: 2 } })
  const give = async (random) => {
    const { bytes } = forgedSieve(random, pick(random, files).bytes)
    const text =
      random() < 0.1 ? forgedJson(random, headOf(bytes.length)) : JSON.stringify(headOf(bytes.length))
    let reply = await client.ask('BF.LOADCHUNK', 'forged', 1, `USBLOOM1${text}`)
    for (let at = 0; at < bytes.length && reply === '+OK\r\n'; at += CHUNK_BYTES) {
      const chunk = bytes.subarray(at, at + CHUNK_BYTES)
      reply = await client.ask('BF.LOADCHUNK', 'forged', 1 + at + chunk.length, chunk)
    }
    expect(
      /^(?:\+OK|-[A-Z]+ [^\r\n]*)\r\n$/.test(reply),
      `BF.LOADCHUNK answers ${JSON.stringify(reply.slice(0, 200))}`,
    )
    // In one write, as clients send them.
    const commands = ['BF.EXISTS', 'BF.ADD', 'BF.EXISTS', 'BF.INFO', 'DEL']
    const answers = await client.askAll(
      commands.map((command) => [command, 'forged', ...(/^BF\.(?!INFO)/.test(command) ? [urls[0]] : [])]),
    )
    for (const [i, answer] of answers.entries())
      expect(/^[:*-]/.test(answer), `${commands[i]} answers ${JSON.stringify(answer.slice(0, 200))}`)
    expect(registry.sizeBytes === 0, `${registry.sizeBytes} bytes are taken`)
    if (reply !== '+OK\r\n') throw new SieveError('corrupt', 'refused')
  }
  give.end = async () => {
    client.close()
    await listener.close()
    await registry.close()
  }
  return give
}

async function frontiers() {
  const { Frontier } = await load('crawlers/frontier.js')
  const { keyInText } = await load('crawlers/request-text.js')
  const files = await frontier(built, folder)
  return async (random, i) => {
    const path = join(folder, `frontier-${i % 50}`)
    rmSync(path, { recursive: true, force: true })
    const file = pick(random, files)
    lay(path, files, { [file.name]: forgedLog(random, file.bytes).bytes })
    if (random() < 0.05) rmSync(join(path, file.name))
    const open = Frontier.open({ folder: path })
    try {
      const before = open.pending
      let got = 0
      for (let entry = open.next(); entry; entry = open.next(), got++) {
        try {
          keyInText(entry.text)
        } catch (error) {
          refusal(error)
        }
        open.finish(entry.place)
      }
      expect(got === before && open.pending === 0, `${got} texts, and ${before} were pending`)
    } finally {
      open.close()
    }
  }
}

async function indexes() {
  const { decodeIndex } = await load('search/index-file.js')
  const honest = await index(built)
  const headBytes = honest.readUInt32LE(12)
  const arrays = honest.subarray(16 + Math.ceil(headBytes / 8) * 8, -32)
  const head = JSON.parse(honest.toString('utf8', 16, 16 + headBytes))
  const padding = (bytes) => Buffer.alloc((8 - (bytes % 8)) % 8)
  return async (random) => {
    const json = Buffer.from(random() < 0.6 ? forgedJson(random, head) : JSON.stringify(head))
    const rest = random() < 0.5 ? arrays : forgedBytes(random, arrays)
    const start = Buffer.from(honest.subarray(0, 16))
    start.writeUInt32LE(random() < 0.1 ? pick(random, [0, 2 ** 31, json.length + 9]) : json.length, 12)
    const body = Buffer.concat([start, json, padding(json.length), rest])
    const sum = createHash('sha256').update(body).digest()
    const { dataset } = await decodeIndex('forged', Buffer.concat([body, sum]))
    for (const words of [['shop'], ['item', 'site1'], ['nowhere']]) {
      for (const row of dataset.ask(words).rows) expect(row < dataset.counts.rows, `row ${row}`)
    }
    dataset.dictionary.rate()
  }
}

async function levels() {
  const { ExactSieve } = await load('exact/index.js')
  const kept = await exact(built, folder)
  const keys = join(kept, 'keys')
  return async (random, i) => {
    const path = join(folder, `level-${i % 20}`)
    rmSync(path, { recursive: true, force: true })
    cpSync(kept, path, { recursive: true })
    const names = readdirSync(keys).filter((name) => !/^LOG|^LOCK/.test(name))
    const name = pick(random, names)
    put(join(path, 'keys', name), forgedLevel(random, name, readFileSync(join(keys, name))))
    const sieve = await ExactSieve.open(path)
    try {
      await sieve.hasMany(asked)
      await sieve.addMany(fresh)
      expect(!(await sieve.hasMany(fresh)).includes(0), 'a URL that was added is not there')
    } finally {
      await sieve.close()
    }
  }
}

// Files for the reader in Python, with what the library answers: `null` when it refuses.
async function python() {
  const files = await sieveFiles(built, folder, { profile: 'raw' })
  writeFileSync(join(folder, 'keys.json'), JSON.stringify(asked))
  return async (random, i) => {
    const file = pick(random, files)
    const path = join(folder, `${i}.forged`)
    writeFileSync(path, forgedSieve(random, file.bytes).bytes)
    let answers = null
    try {
      const sieve = await Sieve.load(path)
      const { filter, shape } = sieve.plan
      answers = filter === 'window' && shape.windowMs !== null ? null : [...sieve.hasMany(asked)]
    } catch (error) {
      if (!isClear(error)) throw error
    }
    writeFileSync(`${path}.json`, JSON.stringify(answers))
  }
}

const kinds = { sieves, stores: storesInFolders, dumps, frontiers, indexes, levels, python }
const read = await kinds[kind]()
const progress = openSync(at, 'w')
let opened = 0
for (let i = from; i < from + count; i++) {
  writeSync(progress, String(i), 0) // they become longer: each covers the one before
  try {
    await read(randomFrom(seed * 1_000_003 + i * 7919 + below(randomFrom(i), 1e6)), i)
    opened++
  } catch (error) {
    if (!isClear(error))
      say(`FAIL ${i} ${error instanceof Wrong ? error.message : error?.stack?.replaceAll('\n', ' | ')}`)
  }
}
await read.end?.()
const peak = /VmHWM:\s*(\d+) kB/.exec(readFileSync('/proc/self/status', 'latin1'))
say(`END ${opened} ${peak ? Number(peak[1]) * 1024 : process.memoryUsage.rss()}`)
