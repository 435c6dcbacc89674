// `urlsieve shapes`: the tree, JSON and the page.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { EXIT } from '../../src/cli/exit.ts'
import { expectFailure, expectQuiet, temporaryFolder, urlsieve } from './command.ts'

const folder = temporaryFolder()
const list = join(folder, 'urls.txt')
const urls = Array.from({ length: 200 }, (_, i) => `https://a.example/wiki/page?rev=${i}`)
writeFileSync(list, `${urls.join('\n')}\nhttps://b.example/\nno URL\n`)

it('prints a tree', async () => {
  const ended = await urlsieve(['shapes', list])
  expectQuiet(ended)
  const text = ended.stdout.toString()
  expect(text).toMatch(/^201 URLs on 2 hosts; 1 line is not a URL; counts are exact; /)
  expect(text).toContain('/wiki/page?rev={number}')
  expect(text).toMatch(/! history: parameter rev has \d+ values/)
})

it('--json and stdin; --suspicious leaves the others out', async () => {
  const input = readFileSync(list)
  const all = await urlsieve(['shapes', '--json', '-'], { input })
  expectQuiet(all)
  expect(JSON.parse(all.stdout.toString())).toMatchObject({ urls: 201, invalid: 1, hosts: 2, others: 0 })
  const some = JSON.parse((await urlsieve(['shapes', '--json', '--suspicious', list])).stdout.toString())
  expect(some.list.map(({ host }: { host: string }) => host)).toEqual(['a.example'])
  expect(some.others).toBe(1)
})

it('--html writes a page', async () => {
  const page = join(folder, 'shapes.html')
  const ended = await urlsieve(['shapes', list, '--html', page])
  expect(ended.code).toBe(0)
  expect(ended.stdout.toString()).toBe('')
  expect(ended.stderr).toBe(`urlsieve: 201 URLs: ${page}\n`)
  expect(readFileSync(page, 'utf8')).toContain('<h2>a.example</h2>')
})

it('mistakes are one line', async () => {
  expectFailure(
    await urlsieve(['shapes', join(folder, 'none')]),
    EXIT.input,
    /cannot read .*none: no such file/,
  )
  expectFailure(
    await urlsieve(['shapes', '--hosts', 'x', list]),
    EXIT.usage,
    /--hosts.*x.*expected a whole number/,
  )
  expectFailure(await urlsieve(['shapes', list, '--html', list]), EXIT.usage, /is both input and output/)
})
