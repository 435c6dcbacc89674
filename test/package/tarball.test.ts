// What the tarball holds, and what publint and "are the types wrong?" find in it.
import { existsSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { root, spawned, temporaryFolder } from '../e2e/command.ts'
import { type Packed, pack } from './packed.ts'

let packed: Packed
let paths: readonly string[] = []

beforeAll(async () => {
  packed = await pack()
  paths = packed.paths
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
        !/^(dist\/.+\.(js|d\.ts)|dist\/man\/urlsieve\.1|deploy\/.+\.(md|yaml|json|service)|dist\/LICENSES\.txt|dist\/site\/(index\.html|[\w.-]+\.svg|assets\/[\w.-]+\.(js|css))|docs\/.+\.(md|svg)|integrations\/.+\.(py|md|toml)|package\.json|README\.md|LICENSE|CHANGELOG\.md)$/.test(
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

  it('holds the types that the exports lead to, and no others', () => {
    const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    const reached = new Set<string>(JSON.stringify(exports).match(/dist\/[^"]+\.d\.ts/g))
    for (const path of reached) {
      for (const [, name] of readFileSync(join(root, path), 'utf8').matchAll(/["'](\.[^"']+)\.ts["']/g))
        reached.add(join(dirname(path), `${name}.d.ts`))
    }
    expect(paths.filter((path) => path.endsWith('.d.ts')).sort()).toEqual([...reached].sort())
  })

  it('has of the Redis client what is used: no modules for other commands', () => {
    const parts = paths.filter((path) => path.startsWith('dist/chunks/'))
    const of = (name: string) =>
      parts.filter((path) => readFileSync(join(root, path), 'utf8').includes(`node_modules/@redis/${name}/`))
    expect(of('client')).toHaveLength(1)
    for (const name of ['search', 'json', 'time-series', 'bloom']) expect(of(name)).toEqual([])
  })

  it('is installed globally without a warning, with its manual page', async () => {
    const folder = temporaryFolder()
    const args = [
      'install',
      '--global',
      '--prefix',
      folder,
      '--no-audit',
      '--no-fund',
      '--offline',
      packed.tarball,
    ]
    const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name)))
    const { code, stderr } = await spawned('npm', args, { cwd: folder, env })
    expect(code).toBe(0)
    expect(stderr).not.toMatch(/script|deprecated/i)
    expect(readFileSync(join(folder, 'share/man/man1/urlsieve.1'), 'utf8')).toMatch(/^\.TH/m)
    const { bin, man, scripts } = JSON.parse(
      readFileSync(join(folder, 'lib/node_modules/urlsieve/package.json'), 'utf8'),
    )
    expect({ bin, man, scripts }).toEqual({
      bin: { urlsieve: 'dist/cli/main.js' },
      man: ['./dist/man/urlsieve.1'],
      scripts: undefined,
    })
  })

  it('what is exported loads nothing that is only of the command', () => {
    const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    const loaded = new Set<string>(JSON.stringify(exports).match(/dist\/[^"]+\.js/g))
    expect(loaded.size).toBeGreaterThan(5)
    for (const path of loaded) {
      for (const [, name] of readFileSync(join(root, path), 'utf8').matchAll(
        /^(?:im|ex)port .*"(\.[^"]+)";$/gm,
      ))
        loaded.add(join(dirname(path), name!))
    }
    expect(loaded).toContain('dist/chunks/library.js')
    expect(loaded).not.toContain('dist/chunks/command.js')
  })

  it('names in package.json exist in it', () => {
    const { bin, main, types, exports, imports } = JSON.parse(
      readFileSync(join(root, 'package.json'), 'utf8'),
    )
    const named = JSON.stringify({ bin, main, types, exports, imports }).match(/(?:\.\/)?dist\/[^"]+/g) ?? []
    expect(named.length).toBeGreaterThan(10)
    expect(named.filter((path) => !paths.includes(path.replace('./', '')))).toEqual([])
  })
})

describe('checked by', () => {
  const tool = (name: string, args: readonly string[]) =>
    spawned(join(root, 'node_modules/.bin', name), args, { cwd: root })

  it('publint: no error, warning or suggestion', async () => {
    const { code, stdout } = await tool('publint', ['run', packed.tarball, '--strict'])
    expect(stdout.toString()).toContain('All good!')
    expect(code).toBe(0)
  })

  // An ESM-only package: require() of it works at run time (runtimes.test.ts), which this tool does not know of.
  it('attw: the types of every entry are found', async () => {
    const { code, stdout } = await tool('attw', [packed.tarball, '--profile', 'esm-only', '--format', 'json'])
    const { analysis, problems } = JSON.parse(stdout.toString())
    expect(Object.keys(analysis.entrypoints)).toEqual(
      expect.arrayContaining(['.', './exact', './redis', './crawlee']),
    )
    expect(problems).not.toHaveProperty('UntypedResolution')
    expect(code).toBe(0)
  })
})
