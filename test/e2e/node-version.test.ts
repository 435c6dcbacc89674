// On a Node that is too old: one line, before anything else is loaded.
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { main, spawned } from './command.ts'

const onNode = (version: string, ...args: string[]) => {
  const fake = `Object.defineProperty(process,'versions',{value:{...process.versions,node:'${version}'}})`
  return spawned(process.execPath, [
    '--import',
    `data:text/javascript,${encodeURIComponent(fake)}`,
    main,
    ...args,
  ])
}

it.each(['18.19.1', '20.18.3', '16.0.0'])('%s is told what is needed', async (version) => {
  const { code, stdout, stderr } = await onNode(version, 'dedupe')
  expect(stderr).toBe(`urlsieve: needs Node 20.19 or later, this is ${version}\n`)
  expect(stdout.length).toBe(0)
  expect(code).toBe(2)
})

it.each(['20.19.0', '22.0.0', '100.0.0'])('%s is not', async (version) => {
  const { code, stderr } = await onNode(version, '--version')
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
})

// A static import is read and linked before the first statement: what an old Node does not know would be an error then.
it('the first file imports nothing by itself, and has no syntax that Node 18 does not know', () => {
  const text = readFileSync(main, 'utf8')
  expect(text).not.toMatch(/^\s*(?:import\b(?!\()|export\b.*\bfrom\b)/m)
  expect(text).not.toMatch(/\b(?:using|accessor|enum)\s|@\w+|\/v\b/)
  expect(text.indexOf('needs Node')).toBeLessThan(text.indexOf('import('))
})
