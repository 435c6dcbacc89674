// The installed package under every runtime it supports: import, require(), a sieve on disk and the command.
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { links, temporaryFolder } from '../e2e/command.ts'
import { install, type Project, pack } from './packed.ts'
import { fetchRuntimes } from './runtimes.ts'

const runtimes = await fetchRuntimes()
const folder = temporaryFolder()
let project: Project

beforeAll(async () => {
  project = await install(await pack())
  project.write(
    'imported.mjs',
    `import { Sieve } from 'urlsieve'
     import { ExactSieve } from 'urlsieve/exact'
     import { RedisSieve } from 'urlsieve/redis'
     import { SieveQueue } from 'urlsieve/crawlee'

     const sieve = await Sieve.create()
     const verdicts = ['http://a.example/#x', 'https://A.example/', 'http://b.example/'].map((url) => sieve.add(url))
     const folder = process.argv[2]
     const stored = await Sieve.open(folder)
     stored.add('http://a.example/')
     await stored.close()
     const again = await Sieve.open(folder)
     const kept = again.has('https://a.example/')
     await again.close()
     const reason = (error) => error.message
     const exact = await ExactSieve.open(folder + '-exact').catch(reason)
     const queue = await SieveQueue.open().catch(reason)
     console.log(JSON.stringify({ verdicts, kept, exact, queue, redis: typeof RedisSieve.open }))`,
  )
  project.write(
    'required.cjs',
    `const { Sieve } = require('urlsieve')
     const names = ['exact', 'redis', 'crawlee'].map((entry) => Object.keys(require('urlsieve/' + entry)).length > 0)
     Sieve.create().then((sieve) => {
       const verdicts = [sieve.add('http://a.example/'), sieve.add('https://a.example/')]
       console.log(JSON.stringify({ verdicts, names }))
     })`,
  )
})

describe.each(runtimes)('$name $missing', ({ name, program, args, missing }) => {
  it.skipIf(missing)('import, a sieve on disk, and one line for each package that is missing', async () => {
    const seen = join(folder, name.replaceAll(' ', '-'))
    expect(JSON.parse(await project.run(program, [...args, 'imported.mjs', seen]))).toEqual({
      verdicts: [true, false, true],
      kept: true,
      exact: 'LevelDB is not installed: npm install classic-level',
      queue: 'Crawlee is not installed: npm install @crawlee/core',
      redis: 'function',
    })
  })

  it.skipIf(missing)('require()', async () => {
    const { code, stdout, stderr } = await project.spawn(program, [...args, 'required.cjs'])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(JSON.parse(stdout.toString())).toEqual({ verdicts: [true, false], names: [true, true, true] })
  })

  const main = 'node_modules/urlsieve/dist/cli/main.js'
  it.skipIf(missing)('the command, with threads', async () => {
    const dedupe = [...args, main, 'dedupe', '--quiet', links, links]
    const one = await project.spawn(program, [...dedupe, '--threads', '1'])
    const two = await project.spawn(program, [...dedupe, '--threads', '2'], { URLSIEVE_CHUNK_BYTES: '100' })
    expect(two).toEqual({ ...one, code: 0, stderr: '' })
  })

  it.skipIf(missing)('the command', async () => {
    const lines = (await project.run(program, [...args, main, 'dedupe', links])).split('\n')
    expect(lines).toHaveLength(21)
    expect(lines[0]).toBe('https://www.example.org/')
  })
})
