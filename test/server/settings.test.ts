// Where the options of `urlsieve serve` come from: flags, then variables, then a file, then defaults.
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { bash, temporaryFolder, urlsieve } from '../e2e/command.ts'
import { started } from './process.ts'

function fileOf(settings: unknown): string {
  const file = join(temporaryFolder(), 'serve.json')
  writeFileSync(file, typeof settings === 'string' ? settings : JSON.stringify(settings))
  return file
}

describe('a setting', () => {
  it('comes from a flag, then a variable, then the file', async () => {
    const config = fileOf({ memory: '1M', 'max-connections': 11, 'max-sieves': 1 })
    const env = { URLSIEVE_CONFIG: config, URLSIEVE_MEMORY: '2M', URLSIEVE_MAX_CONNECTIONS: '12' }
    const server = await started(['--memory', '3M'], env)
    const client = await server.connect()
    expect(await client.ask('CONFIG', 'GET', 'maxclients')).toEqual(['maxclients', '12'])
    expect(await client.ask('CONFIG', 'GET', 'maxmemory')).toEqual(['maxmemory', String(3 * 1024 ** 2)])
    expect(await client.ask('BF.ADD', 'k', 'a')).toBe(1)
    expect(await client.ask('BF.ADD', 'l', 'a')).toMatch(/--max-sieves/)
    client.close()
    server.child.kill('SIGTERM')
    await server.ended()
  })

  it.each([
    [
      'a file that is not there',
      'missing.json',
      {},
      3,
      /^urlsieve: missing\.json: no such file or folder\n$/,
    ],
    ['no JSON', fileOf('{port'), {}, 3, /serve\.json: not JSON: [^\n]+\n$/],
    [
      'a list',
      fileOf([1]),
      {},
      3,
      /serve\.json: expected a JSON object of settings, such as \{"port": 6390\}\n$/,
    ],
    [
      'an unknown name',
      fileOf({ prot: 1 }),
      {},
      2,
      /serve\.json: setting 'prot': expected one of port, http, [^\n]+\n$/,
    ],
    [
      'a nested value',
      fileOf({ port: [1] }),
      {},
      2,
      /setting 'port' is \[1\]: expected a text, a number, true or false\n$/,
    ],
    ['a bad port', fileOf({ port: 99999 }), {}, 2, /serve\.json: port: --port '99999': expected a port/],
    [
      'a bad size',
      null,
      { URLSIEVE_MEMORY: 'much' },
      2,
      /URLSIEVE_MEMORY: --memory 'much': expected [^\n]+\n$/,
    ],
    [
      'a bad choice',
      null,
      { URLSIEVE_DURABILITY: 'maybe' },
      2,
      /URLSIEVE_DURABILITY 'maybe': expected one of always, interval, never\n$/,
    ],
    ['no yes or no', null, { URLSIEVE_JSON: 'maybe' }, 2, /URLSIEVE_JSON 'maybe': expected true or false\n$/],
  ])('that cannot be used is one line: %s', async (_, config, env, code, message) => {
    const args = ['serve', ...(config === null ? [] : ['--config', config])]
    const result = await urlsieve(args, { env: { ...process.env, ...env } })
    expect(result.stderr).toMatch(message)
    expect(result.code).toBe(code)
  })

  it('can turn HTTP off', async () => {
    const config = fileOf({ http: false, port: 0 })
    const { stdout } = await bash(`timeout -s INT 2 node $URLSIEVE serve --config ${config}`)
    expect(String(stdout)).toMatch(/^urlsieve serves RESP on 127\.0\.0\.1:\d+; sieves in memory/)
  })
})

describe('the password', () => {
  it('is the first line of a file', async () => {
    const file = join(temporaryFolder(), 'password')
    writeFileSync(file, 'open sesame\nsecond line\n')
    chmodSync(file, 0o600)
    const server = await started([], { URLSIEVE_PASSWORD_FILE: file })
    const client = await server.connect()
    expect(String(await client.ask('PING'))).toMatch(/NOAUTH/)
    expect(String(await client.ask('AUTH', 'open sesame'))).toBe('OK')
    client.close()
    server.child.kill('SIGTERM')
    await server.ended()
  })

  it('is given once', async () => {
    const result = await urlsieve(['serve', '--password', 'a', '--password-file', 'b'])
    expect(result.stderr).toBe('urlsieve: --password with --password-file: expected one of them\n')
    expect(result.code).toBe(2)
  })

  it('of an empty or missing file is refused', async () => {
    const empty = join(temporaryFolder(), 'empty')
    writeFileSync(empty, '\n')
    expect((await urlsieve(['serve', '--password-file', empty])).stderr).toMatch(/the password is empty/)
    expect((await urlsieve(['serve', '--password-file', 'nowhere'])).stderr).toMatch(
      /nowhere: no such file or folder/,
    )
  })
})
