// The tarball installed in an empty project: its weight, every command, the library, its types and a bundle for the
// browser. --help of some commands; URLSIEVE_FULL=1: of all.
import { readdirSync, statSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createContext, Script } from 'node:vm'
import { rolldown } from 'rolldown'
import { beforeAll, describe, expect, it } from 'vitest'
import { expectFailure, expectQuiet, isFull, linesOf, links, listedCommands, root } from '../e2e/command.ts'
import { install, type Project, pack } from './packed.ts'

let project: Project

beforeAll(async () => {
  project = await install(await pack())
})

describe('weight', () => {
  it('one package of at most 12 MB', () => {
    const { packages } = JSON.parse(project.read('node_modules/.package-lock.json'))
    expect(Object.keys(packages)).toEqual(['node_modules/urlsieve'])
    const modules = join(project.folder, 'node_modules')
    const files = readdirSync(modules, { recursive: true, encoding: 'utf8' })
    const bytes = files.reduce((sum, path) => sum + statSync(join(modules, path)).size, 0)
    expect(bytes).toBeLessThan(12e6)
  })

  it('the licence of everything that is bundled is in it', () => {
    const text = project.read('node_modules/urlsieve/dist/LICENSES.txt')
    for (const name of ['commander', 'fastify', '@redis/client', 'csv-parse', '@observablehq/plot']) {
      expect(text).toMatch(new RegExp(`^${name} \\d+\\.\\d+\\.\\d+ \\((MIT|ISC)\\)$`, 'm'))
    }
  })
})

describe('the command', () => {
  it('npx urlsieve dedupe', async () => {
    const lines = (await project.run('npx', ['--no-install', 'urlsieve', 'dedupe', links])).split('\n')
    expect(lines).toHaveLength(21)
    expect(lines[0]).toBe('https://www.example.org/')
  })

  it('every command has --help', async () => {
    const help = (await project.command('--help')).stdout.toString()
    const names = listedCommands(help)
    expect(names.length).toBeGreaterThan(15)
    // Those that no other test of this file starts.
    const untested = ['shapes', 'learn', 'export', 'completion']
    expect(names).toEqual(expect.arrayContaining(untested))
    for (const name of isFull ? names.filter((one) => one !== 'help') : untested) {
      const ended = await project.command(name, '--help')
      expectQuiet(ended)
      expect(ended.stdout.toString()).toContain(`Usage: urlsieve ${name} `)
    }
  })

  it('a stored sieve from dedupe to freeze', async () => {
    const page = 'https://www.example.org/'
    for (const args of [
      ['dedupe', links, '--state', 'seen'],
      ['check', '--state', 'seen', page],
      ['inspect', 'seen'],
      ['verify', 'seen'],
      ['forget', '--state', 'seen', page],
      ['merge', 'seen', '-o', 'merged.sieve'],
      ['freeze', 'seen', '-o', 'frozen.sieve'],
      ['explain', page],
      ['plan', '--urls', '1M', '--fpr', '0.001'],
    ]) {
      const ended = await project.command(...args)
      expect({ args, code: ended.code, stderr: ended.stderr }).toMatchObject({ code: 0 })
    }
    expect(await project.command('check', '--state', 'seen', page)).toMatchObject({ code: 1 })
  })

  it('under, run, search and lab', async () => {
    const under = await project.command('under', 'https://www.example.org/', '--in', links)
    expect(under).toMatchObject({ code: 0 })
    project.write('commands.txt', 'ADD a.example\nCHECK a.example\n')
    expect(await project.command('run', 'commands.txt')).toMatchObject({ code: 0 })
    project.write('titles.csv', 'title\nBatman Begins\nJoker\n')
    expect((await project.command('search', 'titles.csv', 'joker')).stdout.toString()).toContain('Joker')
    expect((await project.command('lab', 'hashes', '--quick')).stdout.toString()).toContain('report.html')
  })

  it('serve: metrics, the API description and the page', async () => {
    const script = `node node_modules/.bin/urlsieve serve --port 0 --http 0 --json > log & pid=$!
      for i in $(seq 100); do grep -q listening log && break; sleep 0.1; done
      port=$(sed -n 's/.*"http":\\([0-9]*\\).*/\\1/p' log)
      curl -sf http://127.0.0.1:$port/metrics http://127.0.0.1:$port/openapi.json http://127.0.0.1:$port/ > answers
      status=$?; kill $pid; wait; cat answers; exit $status`
    const answers = await project.run('bash', ['-c', script])
    for (const part of ['urlsieve_', '"openapi":"3.1.0"', '<!doctype html>']) expect(answers).toContain(part)
  })

  it('crawl', async () => {
    const site = createServer((request, response) => {
      response.setHeader('content-type', request.url === '/robots.txt' ? 'text/plain' : 'text/html')
      response.end(
        request.url === '/robots.txt' ? '' : '<a href="/a">a</a><a href="/b#x">b</a><a href="/b">b</a>',
      )
    }).listen(0, '127.0.0.1')
    try {
      await new Promise((resolve) => site.once('listening', resolve))
      const { port } = site.address() as AddressInfo
      const ended = await project.command('crawl', `http://127.0.0.1:${port}/`, '--rate', '0', '--quiet')
      expectQuiet(ended)
      const pages = linesOf(ended.stdout).map((line) => new URL(JSON.parse(line).url).pathname)
      expect(pages.sort()).toEqual(['/', '/a', '/b'])
    } finally {
      site.close()
    }
  })

  it('what needs a package that is not bundled names it in one line', async () => {
    const exact = await project.command('dedupe', links, '--filter', 'exact', '--state', 'exact')
    expectFailure(exact, 2, /^urlsieve: LevelDB is not installed: npm install classic-level\n$/)
  })

  it('--redis needs no package: one line when nothing listens there', async () => {
    const ended = await project.command('dedupe', links, '--redis', 'redis://127.0.0.1:1')
    expect(ended.code).toBeGreaterThan(0)
    expect(ended.stderr).toMatch(/^urlsieve: cannot connect to Redis at 127\.0\.0\.1:1: .+\n$/)
  })
})

describe('the library', () => {
  it('what is not exported cannot be imported', async () => {
    project.write('inside.mjs', `import 'urlsieve/dist/kernel.js'`)
    await expect(project.run('node', ['inside.mjs'])).rejects.toThrow(/ERR_PACKAGE_PATH_NOT_EXPORTED/)
  })

  it('throws SieveError, deletes, and names the filters', async () => {
    project.write(
      'seen.mjs',
      `import { Sieve, SieveError, filterNames } from 'urlsieve'
       const sieve = await Sieve.create()
       const answers = ['http://a.example/#x', 'https://A.example/', 'http://b.example/'].map((url) => sieve.add(url))
       const refused = await Sieve.create({ filter: 'classic' }).catch((error) => error instanceof SieveError)
       console.log(JSON.stringify({ answers, refused, forgot: sieve.delete('http://a.example/'), filterNames }))`,
    )
    const got = JSON.parse(await project.run('node', ['seen.mjs']))
    expect(got).toMatchObject({ answers: [true, false, true], refused: true, forgot: true })
    expect(got.filterNames).toContain('classic')
  })

  it('a bundle for the browser runs with nothing of Node', async () => {
    project.write('page.js', `export { Sieve } from 'urlsieve'`)
    const bundle = await rolldown({
      input: join(project.folder, 'page.js'),
      cwd: project.folder,
      platform: 'browser',
    })
    const { output } = await bundle.generate({ format: 'iife', name: 'page', minify: true })
    await bundle.close()
    expect(output).toHaveLength(1)
    const { URL, TextEncoder, TextDecoder, crypto, atob, performance } = globalThis
    const context = createContext({ URL, TextEncoder, TextDecoder, crypto, atob, performance })
    new Script(output[0].code).runInContext(context)
    const answers = new Script(`(async () => {
      const sieve = await page.Sieve.create()
      const stored = await page.Sieve.open('folder').catch((error) => error.message)
      return JSON.stringify([sieve.add('http://a.example/'), sieve.add('https://A.example/#x'), stored])
    })()`).runInContext(context) as Promise<string>
    expect(JSON.parse(await answers)).toEqual([
      true,
      false,
      'there is no disk in a browser: use Sieve.create',
    ])
  })

  it('its types, strictly', async () => {
    project.write(
      'typed.ts',
      `import {
        type Explanation, type FilterName, Sieve, type SieveError, type SieveErrorCode, type SieveOptions, type Stats
      } from 'urlsieve'

      const options: SieveOptions<'classic'> = { filter: 'classic', expectedUrls: 1000, falsePositiveRate: 0.01 }
      const classic = await Sieve.create(options)
      export const isNew: boolean = classic.add('http://a.example/')
      // @ts-expect-error: a classic filter cannot forget
      classic.delete('http://a.example/')

      const growing = await Sieve.create()
      export const forgot: boolean = growing.delete('http://a.example/')
      export const stats: Stats = growing.stats()
      export const explanation: Explanation = growing.explain('http://a.example/')
      export const codeOf = (error: SieveError): SieveErrorCode => error.code

      // @ts-expect-error: there is no such filter
      export const name: FilterName = 'sponge'
      // @ts-expect-error: there is no such profile
      await Sieve.create({ profile: 'loud' })
      // @ts-expect-error: a URL is a string
      growing.add(new URL('http://a.example/'))
      `,
    )
    const options = ['--strict', '--exactOptionalPropertyTypes', '--target', 'es2023', '--module', 'nodenext']
    const args = ['--noEmit', ...options, '--skipLibCheck', 'false', '--types', '', 'typed.ts']
    // Were the types not found, everything would be `any` and the expected errors would be missing.
    expect(await project.run(join(root, 'node_modules/.bin/tsc'), args)).toBe('')
  })
})
