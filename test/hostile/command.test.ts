// D20: whatever command is given a forged file ends with one line and exit code 3.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { Sieve } from '../../src/index.ts'
import { expectFailure, links, temporaryFolder, urlsieve } from '../e2e/command.ts'
import { putTogether, takeApart } from './forge.mjs'

const folder = temporaryFolder()
const forged = join(folder, 'forged.sieve')
const store = join(folder, 'store')
const frozen = join(folder, 'frozen.sieve')

beforeAll(async () => {
  const sieve = await Sieve.create()
  sieve.addMany(['https://example.com/', 'https://example.com/a'])
  await sieve.save(forged)
  const { version, header, chunks, end } = takeApart(readFileSync(forged))
  const { payload } = chunks[0]!
  const slots = (payload.length - 64) / 8
  for (let i = 0; i < slots; i++) payload.writeBigUInt64LE(BigInt(i + 1), 64 + 8 * i)
  payload.writeUInt32LE(slots, 0)
  const texts = { headerText: JSON.stringify(header), endText: JSON.stringify(end) }
  const bytes = putTogether({ version, chunks, ...texts })
  writeFileSync(forged, bytes)
  mkdirSync(store)
  writeFileSync(join(store, 'snapshot-00000001.sieve'), bytes)
})

const words = /forged\.sieve is damaged|snapshot-00000001\.sieve is damaged/

describe('a table without an empty slot', () => {
  it.each([
    ['inspect', [forged]],
    ['inspect', [store]],
    ['check', ['--state', forged, 'https://example.com/b']],
    ['check', ['--state', store, 'https://example.com/b']],
    ['merge', [forged, forged, '-o', join(folder, 'merged.sieve')]],
    ['freeze', [forged, '-o', frozen]],
    ['export', [store]],
    ['dedupe', ['--state', store, links]],
    ['forget', ['--state', store, 'https://example.com/b']],
  ] as const)('%s %j', async (command, args) => {
    expectFailure(await urlsieve([command, ...args]), 3, words)
  })

  it.each([forged, store])('verify names it', async (path) => {
    const { code, stdout, stderr } = await urlsieve(['verify', path])
    expect({ code, stderr }).toEqual({ code: 3, stderr: '' })
    expect(stdout.toString()).toMatch(words)
  })
})
