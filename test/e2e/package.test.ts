// The package as npm gives it to a user: what the tarball holds, and that the command, the library and its types
// work in an empty project.
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { links, root, spawned, temporaryFolder } from './command.ts'

const folder = temporaryFolder()
const project = join(folder, 'project')
// Under `npm test` npm describes this repository in the environment; another project must not see it.
const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('npm_')))

async function ran(program: string, args: readonly string[], cwd: string): Promise<string> {
  const ended = await spawned(program, args, { cwd, env })
  if (ended.code !== 0)
    throw new Error(`${program} ${args.join(' ')}: exit ${ended.code}\n${ended.stderr}${ended.stdout}`)
  return ended.stdout.toString()
}

function source(name: string, text: string): void {
  writeFileSync(join(project, name), text)
}

let paths: string[] = []

beforeAll(async () => {
  const packed = await ran('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder], root)
  const [{ filename, files }] = JSON.parse(packed) as [{ filename: string; files: { path: string }[] }]
  paths = files.map((file) => file.path)
  mkdirSync(project)
  source('package.json', '{ "private": true, "type": "module" }')
  await ran(
    'npm',
    ['install', '--no-audit', '--no-fund', '--prefer-offline', join(folder, filename)],
    project,
  )
})

describe('the tarball', () => {
  it.each([
    'package.json',
    'README.md',
    'LICENSE',
    'CHANGELOG.md',
    'dist/index.js',
    'dist/index.d.ts',
    'dist/cli/main.js',
    'dist/LICENSES.txt',
    'dist/site/index.html',
  ])('holds %s', (path) => {
    expect(paths).toContain(path)
  })

  it('holds nothing else: no sources, tests or benchmarks', () => {
    const others = paths.filter(
      (path) =>
        !/^(dist\/.+\.(js|d\.ts)|dist\/LICENSES\.txt|dist\/site\/(index\.html|[\w.-]+\.svg|assets\/[\w.-]+\.(js|css))|(docs|integrations)\/.+|package\.json|README\.md|LICENSE|CHANGELOG\.md)$/.test(
          path,
        ),
    )
    expect(others).toEqual([])
    expect(paths.filter((path) => /(^|\/)(src|test|bench|kernel)\/|\.test\./.test(path))).toEqual([])
  })

  it('holds nothing stale: all types have their source, and all parts are of some use', () => {
    const types = paths.filter((path) => /^dist\/.+\.d\.ts$/.test(path))
    const gone = types.filter(
      (path) => !existsSync(join(root, path.replace(/^dist(.+)\.d\.ts$/, 'src$1.ts'))),
    )
    expect(gone, "left from an older build: run 'npm run build'").toEqual([])
    const parts = paths.filter((path) => path.startsWith('dist/chunks/'))
    const used = paths
      .filter((path) => /^dist\/.+\.js$/.test(path) && !path.startsWith('dist/site/'))
      .map((path) => readFileSync(join(root, path), 'utf8'))
      .join('\n')
    expect(parts.length).toBeGreaterThan(10)
    expect(parts.filter((path) => !used.includes(`/${basename(path)}"`))).toEqual([])
  })
})

describe('installed in an empty project', () => {
  it('is one package of at most 12 MB', () => {
    const lock = readFileSync(join(project, 'node_modules/.package-lock.json'), 'utf8')
    const { packages } = JSON.parse(lock) as { packages: Record<string, unknown> }
    expect(Object.keys(packages)).toEqual(['node_modules/urlsieve'])
    const files = readdirSync(join(project, 'node_modules'), { recursive: true, encoding: 'utf8' })
    const bytes = files.reduce((sum, path) => sum + statSync(join(project, 'node_modules', path)).size, 0)
    expect(bytes).toBeLessThan(12e6)
  })

  it('names the licence of everything that is bundled', () => {
    const text = readFileSync(join(project, 'node_modules/urlsieve/dist/LICENSES.txt'), 'utf8')
    for (const name of ['commander', 'fastify', 'redis', 'csv-parse', '@observablehq/plot']) {
      expect(text).toMatch(new RegExp(`^${name} \\d+\\.\\d+\\.\\d+ \\((MIT|ISC)\\)$`, 'm'))
    }
  })

  it('what needs a package that is not bundled names it in one line', async () => {
    const exact = ['urlsieve', 'dedupe', links, '--filter', 'exact', '--state', 'exact']
    await expect(ran('npx', ['--no-install', ...exact], project)).rejects.toThrow(
      'urlsieve: LevelDB is not installed: npm install classic-level\n',
    )
  })

  it('serve, search and lab need nothing else', async () => {
    source('titles.csv', 'title\nBatman Begins\nJoker\n')
    const found = await ran('npx', ['--no-install', 'urlsieve', 'search', 'titles.csv', 'joker'], project)
    expect(found).toContain('Joker')
    const lab = await ran('npx', ['--no-install', 'urlsieve', 'lab', 'hashes', '--quick'], project)
    expect(lab).toContain('report.html')
    const script = `node node_modules/.bin/urlsieve serve --port 0 --http 0 --json > log & pid=$!
      for i in $(seq 100); do grep -q listening log && break; sleep 0.1; done
      port=$(sed -n 's/.*"http":\\([0-9]*\\).*/\\1/p' log)
      curl -sf http://127.0.0.1:$port/metrics http://127.0.0.1:$port/openapi.json http://127.0.0.1:$port/ > answers
      status=$?; kill $pid; wait; cat answers; exit $status`
    const answers = await ran('bash', ['-c', script], project)
    for (const part of ['urlsieve_', '"openapi":"3.1.0"', '<!doctype html>']) expect(answers).toContain(part)
  })

  it('npx urlsieve dedupe', async () => {
    const lines = (await ran('npx', ['--no-install', 'urlsieve', 'dedupe', links], project)).split('\n')
    expect(lines).toHaveLength(21)
    expect(lines[0]).toBe('https://www.example.org/')
  })

  it('the library, which needs no dependency', async () => {
    source(
      'seen.mjs',
      `import { Sieve, SieveError, filterNames } from 'urlsieve'
       const sieve = await Sieve.create()
       const answers = ['http://a.example/#x', 'https://A.example/', 'http://b.example/'].map((url) => sieve.add(url))
       const refused = await Sieve.create({ filter: 'classic' }).catch((error) => error instanceof SieveError)
       console.log(JSON.stringify({ answers, refused, forgot: sieve.delete('http://a.example/'), filterNames }))`,
    )
    mkdirSync(join(project, 'away/node_modules'), { recursive: true })
    cpSync(join(project, 'node_modules/urlsieve'), join(project, 'away/node_modules/urlsieve'), {
      recursive: true,
    })
    renameSync(join(project, 'seen.mjs'), join(project, 'away/seen.mjs'))
    renameSync(join(project, 'node_modules'), join(project, 'hidden'))
    try {
      const got = JSON.parse(await ran('node', ['away/seen.mjs'], project))
      expect(got).toMatchObject({ answers: [true, false, true], refused: true, forgot: true })
      expect(got.filterNames).toContain('classic')
    } finally {
      renameSync(join(project, 'hidden'), join(project, 'node_modules'))
    }
  })

  it('what is not exported cannot be imported', async () => {
    source('inside.mjs', `import 'urlsieve/dist/kernel.js'`)
    await expect(ran('node', ['inside.mjs'], project)).rejects.toThrow(/ERR_PACKAGE_PATH_NOT_EXPORTED/)
  })

  it('its types, strictly', async () => {
    source(
      'typed.ts',
      `import {
        type Explanation, type FilterName, Sieve, SieveError, type SieveErrorCode, type SieveOptions, type Stats
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
      export const code: SieveErrorCode = new SieveError('room', 'no room').code

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
    expect(await ran(join(root, 'node_modules/.bin/tsc'), args, project)).toBe('')
  })
})
