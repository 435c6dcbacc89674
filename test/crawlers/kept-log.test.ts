// The log of URLs that limits kept: read again, also after a cut, and a continued crawl goes on counting.
import { appendFileSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { KeptLog } from '../../src/crawlers/kept-log.ts'
import { LimitedUrls } from '../../src/crawlers/limited-urls.ts'
import { Sieve } from '../../src/index.ts'
import { temporaryFolder } from '../e2e/command.ts'

const posts = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, i) => `http://a.example/pöst/${from + i}`)

it('returns what was appended; a last line that is not whole is removed', () => {
  const path = join(temporaryFolder(), 'kept.log')
  const first = new KeptLog(path)
  first.read(() => expect.unreachable())
  first.append(posts(0, 40_000))
  first.append([])
  first.close()
  appendFileSync(path, 'http://a.example/cut')
  const again = new KeptLog(path)
  const found: string[] = []
  again.read((url) => found.push(url))
  expect(found).toEqual(posts(0, 40_000))
  again.append(['http://b.example/'])
  again.close()
  expect(readFileSync(path, 'utf8')).toMatch(/\/39999\nhttp:\/\/b\.example\/\n$/)
  expect(statSync(path).mode & 0o777).toBe(0o600)
})

it('limits of a continued crawl go on counting', async () => {
  const path = join(temporaryFolder(), 'kept.log')
  const run = async (urls: readonly string[]) => {
    const log = new KeptLog(path)
    const limited = new LimitedUrls(await Sieve.create(), { keepPerShape: 50 }, undefined, log)
    const verdicts = await limited.addMany(urls)
    log.close()
    return verdicts.reduce((sum, one) => sum + one, 0)
  }
  expect(await run(posts(0, 30))).toBe(30)
  expect(await run(posts(100, 200))).toBe(20)
  expect(await run(posts(300, 400))).toBe(0)
})
