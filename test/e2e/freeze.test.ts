// `urlsieve freeze`: from a .sieve file or a store to a set that is shipped, and what the other commands say of it.
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { Sieve } from '../../src/index.ts'
import { expectFailure, expectQuiet, linesOf, temporaryFolder, urlsieve } from './command.ts'

const folder = temporaryFolder()
const file = join(folder, 'seen.sieve')
const store = join(folder, 'store')
const page = (i: number) => `https://example.com/${i}`
const pages = Array.from({ length: 20_000 }, (_, i) => page(i))

beforeAll(async () => {
  const sieve = await Sieve.create()
  sieve.addMany(pages)
  await sieve.save(file)
  const stored = await Sieve.open(store)
  stored.addMany(pages.slice(0, 500))
  await stored.save()
  stored.addMany(pages.slice(500, 1000)) // these are in the log only
  await stored.close()
})

/** Size, bits per URL and the rest, as the command prints them. */
const rowsOf = (stdout: Buffer) =>
  Object.fromEntries(linesOf(stdout).map((line) => line.split(/ {2,}/) as [string, string]))

describe('a .sieve file', () => {
  it('becomes SIEVE.frozen.sieve; size, bits per URL, rate and distance from the limit are said', async () => {
    const ended = await urlsieve(['freeze', file, '--bits', '8'])
    expectQuiet(ended)
    const made = join(folder, 'seen.frozen.sieve')
    const rows = rowsOf(ended.stdout)
    expect(rows).toMatchObject({ file: made, URLs: '20,000', rate: '0.0039, once in 256' })
    expect(rows.size).toMatch(/^\d+\.\d KiB, was \d+ KiB in memory$/)
    const bits = Number(rows['bits per URL'])
    expect(rows.limit).toBe(`8 bits per URL: ${((bits / 8 - 1) * 100).toFixed(1)} % over it`)
    expect(bits).toBeLessThan(8 * 1.24)
    const { sizeBytes } = (await Sieve.load(made)).stats()
    expect(statSync(made).size - sizeBytes).toBeLessThan(1024)
  })

  it('-o, --json; 32 bits when not said', async () => {
    const made = join(folder, 'shipped.sieve')
    const ended = await urlsieve(['freeze', file, '-o', made, '--json'])
    expectQuiet(ended)
    const result = JSON.parse(ended.stdout.toString())
    expect(result).toMatchObject({ file: made, urls: 20_000, bits: 32, rate: 2 ** -32, limit: 32 })
    expect(result.fileBytes).toBe(statSync(made).size)
    expect(result.overLimit).toBeCloseTo(result.bitsPerUrl / 32 - 1, 12)
    const loaded = await Sieve.load(made)
    expect(loaded.hasMany(pages).every((seen) => seen === 1)).toBe(true)
    expect(loaded.has(page(20_000))).toBe(false)
  })

  it('is asked by check and shown by inspect', async () => {
    const made = join(folder, 'asked.sieve')
    expectQuiet(await urlsieve(['freeze', file, '-o', made]))
    const seen = await urlsieve(['check', '--state', made, page(0), page(19_999)])
    expect(seen).toMatchObject({ code: 0, stderr: '' })
    expect(await urlsieve(['check', '--state', made, page(20_000)])).toMatchObject({ code: 1, stderr: '' })
    const shown = await urlsieve(['inspect', made, '--json'])
    expectQuiet(shown)
    expect(JSON.parse(shown.stdout.toString())).toMatchObject({ filter: 'binary-fuse', urls: 20_000 })
  })
})

it('the folder of a store, log and all; it stays as it was', async () => {
  const before = readFileSync(join(store, 'log-00000002'))
  const ended = await urlsieve(['freeze', `${store}/`, '--bits', '16', '--json'])
  expectQuiet(ended)
  expect(JSON.parse(ended.stdout.toString())).toMatchObject({ file: `${store}.frozen.sieve`, urls: 1000 })
  const loaded = await Sieve.load(`${store}.frozen.sieve`)
  expect(loaded.hasMany(pages.slice(0, 1000)).every((seen) => seen === 1)).toBe(true)
  expect(readFileSync(join(store, 'log-00000002')).equals(before)).toBe(true)
  expect(existsSync(join(store, 'lock'))).toBe(false)
})

it('an empty sieve', async () => {
  const empty = join(folder, 'empty.sieve')
  await (await Sieve.create()).save(empty)
  const ended = await urlsieve(['freeze', empty])
  expectQuiet(ended)
  expect(rowsOf(ended.stdout)).toMatchObject({ URLs: '0', rate: '0', limit: '-' })
  expect((await Sieve.load(join(folder, 'empty.frozen.sieve'))).has(page(0))).toBe(false)
})

describe('one line for what cannot be', () => {
  it('another filter', async () => {
    const other = join(folder, 'blocked.sieve')
    await (await Sieve.create({ filter: 'blocked', expectedUrls: 100 })).save(other)
    const ended = await urlsieve(['freeze', other])
    expectFailure(ended, 2, /filter 'blocked' cannot be frozen: expected 'fingerprint'/)
    expect(existsSync(join(folder, 'blocked.frozen.sieve'))).toBe(false)
  })

  it('bits that are none of the three', async () => {
    expectFailure(await urlsieve(['freeze', file, '--bits', '12']), 2, /--bits.*8, 16, 32/)
  })

  it('an input that is missing, or no sieve', async () => {
    expectFailure(
      await urlsieve(['freeze', join(folder, 'missing')]),
      3,
      /cannot read .*missing: no such file/,
    )
    const text = join(folder, 'text.txt')
    writeFileSync(text, 'https://example.com/\n')
    expectFailure(await urlsieve(['freeze', text]), 3, /text\.txt is no sieve/)
  })

  it('an output that is the input, or cannot be written', async () => {
    const whole = readFileSync(file)
    expectFailure(await urlsieve(['freeze', file, '-o', file]), 2, /both input and output/)
    expect(readFileSync(file).equals(whole)).toBe(true)
    const target = join(folder, 'a-folder')
    mkdirSync(target)
    expectFailure(await urlsieve(['freeze', file, '-o', target]), 4, /cannot write .*a-folder/)
    expectFailure(
      await urlsieve(['freeze', file, '-o', join(folder, 'no/where.sieve')]),
      4,
      /no such file or folder/,
    )
  })
})
