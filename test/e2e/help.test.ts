// What the command says of itself: help with an example for every command, its version. Some filters; URLSIEVE_FULL=1:
// all.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { EXIT } from '../../src/cli/exit.ts'
import { exampleOf } from '../../src/cli/filter-help.ts'
import { allKinds, filterKinds, filterNames } from '../../src/filters/registry.ts'
import { filterOptions } from '../../src/sieve-options.ts'
import { cases, expectFailure, expectQuiet, listedCommands, root, urlsieve } from './command.ts'

const asked = new Map<string, string>()

async function help(...args: string[]): Promise<string> {
  const before = asked.get(args.join(' '))
  if (before !== undefined) return before
  const ended = await urlsieve(args)
  expectQuiet(ended)
  asked.set(args.join(' '), ended.stdout.toString())
  return ended.stdout.toString()
}

it('--help of every command has an example that starts with it', async () => {
  const text = await help('--help')
  expect(text).toMatch(/^Example:\n {2}urlsieve dedupe /m)
  const commands = listedCommands(text)
  expect(commands).toEqual(expect.arrayContaining(['dedupe', 'plan', 'explain', 'help']))
  for (const command of commands.filter((name) => name !== 'help')) {
    const own = await help(command, '--help')
    expect(own).toMatch(new RegExp(`^Usage: urlsieve ${command} `))
    expect(own).toMatch(new RegExp(`^Examples?:\\n(.*\\n)*? {2}.*urlsieve ${command} `, 'm'))
  }
  expect(await help('help', 'plan')).toBe(await help('plan', '--help'))
})

it('descriptions are wrapped once, at the width of the terminal', async () => {
  for (const command of listedCommands(await help('--help'))) {
    if (command === 'help') continue
    const description = (await help(command, '--help')).split('\n\n')[1]!.split('\n')
    for (let i = 0; i + 1 < description.length; i++) {
      const word = description[i + 1]!.split(' ')[0]!
      const line = `${description[i]} ${word}`
      expect(line.length, `'${line}' of ${command} would fit on one line`).toBeGreaterThan(80)
    }
  }
})

it('the help names every exit code but that of a defect', async () => {
  const [, codes] = /^Exit codes: (.*)$/m.exec(await help('--help'))!
  const named = codes!.split(' · ').map((code) => Number.parseInt(code, 10))
  const { defect, ...others } = EXIT
  expect(defect).toBe(70)
  expect(named).toEqual([0, 1, ...Object.values(others)])
})

it('the help of dedupe names every filter', async () => {
  const text = await help('dedupe', '--help')
  for (const name of filterNames) expect(text).toContain(name)
})

it('no arguments: the help, and all is well', async () => {
  expect(await help()).toBe(await help('--help'))
})

it('--version: that of package.json', async () => {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  expect(await help('--version')).toBe(`${version}\n`)
  expect(await help('-V')).toBe(`${version}\n`)
})

it('help filters: every filter with the options of its own, and an example', async () => {
  const text = await help('help', 'filters')
  for (const { name, does } of filterKinds) {
    expect(text).toContain(`${name} `)
    expect(text).toContain(does)
  }
  expect(text).toMatch(/^Example:\n {2}urlsieve dedupe .*--filter multilayer/m)
})

/** Kinds with options of their own of every sort, one without, and one that takes no URLs. */
const own = allKinds.filter(({ name }) =>
  ['fingerprint', 'window', 'multilayer', 'binary-fuse'].includes(name),
)
const alike = allKinds.filter((kind) => !own.includes(kind))

it.each(cases(own, alike).map((kind) => [kind.name, kind] as const))(
  'help filters %s: its options and which way it errs',
  async (name, kind) => {
    const text = await help('help', 'filters', name)
    expect(text).toContain(`${name}: ${kind.does}`)
    expect(text).toContain(`Errs ${kind.errs}`)
    for (const { flag } of filterOptions) {
      const isTaken = kind.options.some((option) => option.flag === flag)
      expect(new RegExp(`^${flag} `, 'm').test(text), flag).toBe(isTaken)
    }
    expect(text).toMatch(new RegExp(`^Example:\\n {2}urlsieve dedupe .*--filter ${name}`, 'm'))
    expect(text).toContain(`  ${exampleOf(kind)}\n`)
  },
)

it('the example of every filter works as printed', async () => {
  for (const kind of filterKinds) {
    const args = exampleOf(kind).split(' ').slice(1)
    args.splice(args.indexOf('links.txt'), 1)
    const ended = await urlsieve(args, { input: 'https://a.example/\nhttps://a.example/\n' })
    expect(ended.stderr).toBe('')
    expect(ended.stdout.toString()).toBe('https://a.example/\n')
  }
})

it('help filters of an unknown one: one line that names those there are', async () => {
  const ended = await urlsieve(['help', 'filters', 'sponge'])
  expectFailure(ended, EXIT.usage, /^urlsieve: unknown filter 'sponge': expected one of fingerprint, /)
})

it('--help of a command fits a screen: the options of single filters are in help filters', async () => {
  for (const command of ['dedupe', 'explain', 'run', 'crawl']) {
    const text = await help(command, '--help')
    expect(text).toMatch(/^Sieve:\n {2}--filter <name>/m)
    expect(text).not.toMatch(/--bits-per-layer|--feature-hashes|--keywords/)
    expect(text).toContain("'urlsieve help filters'")
  }
})
