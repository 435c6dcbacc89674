// What is delivered beside the package: image, compose file, dashboard, unit, workflow. A container tool builds and runs
// the image where there is one; elsewhere the files are checked for what they promise.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Command } from 'commander'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { serveCommand } from '../../src/cli/serve.ts'
import { variableOf } from '../../src/cli/settings.ts'
import { faultKinds } from '../../src/server/faults.ts'
import { root } from '../e2e/command.ts'
import { started } from '../server/process.ts'
import { newFolders } from '../support/folders.ts'

const newFolder = newFolders()

const read = (path: string) => readFileSync(join(root, path), 'utf8')
const yaml = (path: string) => parse(read(path), { merge: true }) as Record<string, never>

const program = new Command()
serveCommand(program)
const variables = program.commands[0]!.options.map(variableOf)

interface Panel {
  readonly id: number
  readonly title: string
  readonly description: string
  readonly gridPos: { x: number; y: number; w: number; h: number }
  readonly targets: { expr: string; legendFormat: string }[]
}

describe('the image', () => {
  const text = read('Dockerfile')
  const stages = text.split(/^FROM /m).slice(1)

  it('is built in one stage and runs in another, without root, with a health check', () => {
    expect(stages).toHaveLength(2)
    expect(stages[1]).toMatch(/^USER node$/m)
    expect(stages[1]).toMatch(/^HEALTHCHECK /m)
    expect(stages[1]).toMatch(/^CMD \["serve"\]$/m)
    for (const stage of stages) expect(stage).toMatch(/^node:\d+-/) // a version, not whatever is latest
  })

  it('sets variables that the server reads', () => {
    const set = text.match(/URLSIEVE_\w+/g)!.filter((name) => name !== 'URLSIEVE_PASSWORD')
    expect(set.length).toBeGreaterThan(2)
    for (const name of set) expect(variables).toContain(name)
  })

  it('has a health check that asks the port that is set, and RESP without HTTP', async () => {
    const [, check] = /HEALTHCHECK [^[]*CMD (\[.*\])/.exec(text)!
    const [program, ...args] = JSON.parse(check!) as [string, ...string[]]
    expect(program).toBe('node')
    const server = await started([])
    const healthy = (set: Record<string, string>) =>
      spawnSync(process.execPath, args, { env: { ...process.env, ...set } }).status === 0
    expect(healthy({ URLSIEVE_HTTP: String(server.httpPort) })).toBe(true)
    expect(healthy({ URLSIEVE_HTTP: 'false', URLSIEVE_PORT: String(server.port) })).toBe(true)
    server.child.kill('SIGKILL')
    await server.ended()
    expect(healthy({ URLSIEVE_HTTP: String(server.httpPort) })).toBe(false)
    expect(healthy({ URLSIEVE_HTTP: 'false', URLSIEVE_PORT: String(server.port) })).toBe(false)
  })

  it('is run on this machine only, where the docs say how', () => {
    for (const path of ['Dockerfile', 'deploy/README.md', 'deploy/compose.yaml', 'README.md']) {
      const published = read(path).match(/(-p |ports:).*/g) ?? []
      for (const line of published.filter((one) => /\d:\d/.test(one))) {
        expect(line, path).not.toMatch(/(^-p |[["] *|-p )\d+:\d+/)
      }
    }
  })

  const hasEngine = spawnSync('docker', ['info'], { stdio: 'ignore' }).status === 0
  it.skipIf(!hasEngine)(`is built${hasEngine ? '' : ' (skipped: no container engine runs here)'}`, () => {
    const built = spawnSync('docker', ['build', '-q', '.'], { cwd: root, encoding: 'utf8' })
    expect(built.stderr).toBe('')
    expect(built.status).toBe(0)
  })
})

describe('the compose file', () => {
  const { services, secrets, volumes } = yaml('deploy/compose.yaml') as unknown as {
    services: Record<
      string,
      { image?: string; volumes?: string[]; environment?: Record<string, string>; secrets?: string[] }
    >
    secrets: Record<string, unknown>
    volumes: Record<string, unknown>
  }

  it('names images with a version, and mounts files that exist', () => {
    for (const [name, { image, volumes: mounts = [] }] of Object.entries(services)) {
      if (image !== 'urlsieve') expect(image, name).toMatch(/:.*\d/)
      for (const mount of mounts) {
        const [from] = mount.split(':') as [string]
        if (from.startsWith('.')) expect(existsSync(join(root, 'deploy', from)), mount).toBe(true)
        else expect(Object.keys(volumes), mount).toContain(from)
      }
    }
  })

  it('sets variables that the server reads, and secrets that are declared', () => {
    const server = services['urlsieve-1']!
    for (const name of Object.keys(server.environment!)) expect(variables).toContain(name)
    for (const secret of server.secrets!) expect(Object.keys(secrets)).toContain(secret)
  })
})

it('the nodes of the compose cluster keep their addresses', () => {
  const { services, networks } = yaml('deploy/compose.yaml') as unknown as {
    services: Record<string, { command?: unknown; networks?: { default: { ipv4_address: string } } }>
    networks: { default: { ipam: { config: { subnet: string }[] } } }
  }
  const subnet = networks.default.ipam.config[0]!.subnet.replace(/\.0\/24$/, '.')
  const nodes = Object.keys(services).filter((name) => /^redis-\d/.test(name))
  const addresses = nodes.map((name) => services[name]!.networks!.default.ipv4_address)
  expect(new Set(addresses).size).toBe(3)
  for (const address of addresses) {
    expect(address.startsWith(subnet)).toBe(true)
    expect(JSON.stringify(services['redis-cluster']!.command)).toContain(`${address}:6379`)
  }
})

describe('the dashboard and the alerts', () => {
  const dashboard = JSON.parse(read('deploy/grafana/urlsieve.json')) as { panels: Panel[] }
  const alerts = yaml('deploy/alerts.yaml') as unknown as {
    groups: { rules: { expr: string; annotations: { summary: string } }[] }[]
  }

  it('query metrics and labels that the server has', async () => {
    const server = await started(['--data', newFolder()])
    const client = await server.connect()
    await client.ask('SIEVE.CREATE', 'promise', 'FILTER', 'classic', 'URLS', '100', 'FPR', '0.01')
    await client.ask('SIEVE.CREATE', 'seen')
    await client.ask('SIEVE.ADD', 'seen', 'https://example.com/')
    client.close()
    const text = await (await fetch(`http://127.0.0.1:${server.httpPort}/metrics`)).text()
    server.child.kill('SIGTERM')
    await server.ended()
    const known = new Set([...text.matchAll(/^(?:# TYPE )?([a-z_][a-z_0-9]*)/gm)].map(([, name]) => name))
    const labels = new Map<string, Set<string>>()
    for (const [, name, list] of text.matchAll(/^([a-z_][a-z_0-9]*)\{(.*)\} /gm)) {
      for (const [, label] of list!.matchAll(/(\w+)="/g)) {
        labels.set(name!, (labels.get(name!) ?? new Set()).add(label!))
      }
    }
    const queries = [
      ...dashboard.panels.flatMap((panel) => panel.targets),
      ...alerts.groups.flatMap(({ rules }) =>
        rules.flatMap(({ expr, annotations }) =>
          expr
            .split(/\sunless on \(instance\)\s/)
            .map((part, i) => ({ expr: part, legendFormat: i === 0 ? annotations.summary : '' })),
        ),
      ),
    ]
    expect(queries.length).toBeGreaterThan(15)
    for (const { expr: query, legendFormat } of queries) {
      const names = query.match(/\b(urlsieve|nodejs|process)_\w+/g) ?? []
      for (const name of names) expect(known, query).toContain(name)
      expect(names.length + Number(query.startsWith('up{')), query).toBeGreaterThan(0)
      expect(query.split('(').length, query).toBe(query.split(')').length)
      const grouped = [...query.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list]) => list!.split(', '))
      const selected = [...query.matchAll(/[{,]\s*(\w+)=/g)].map(([, label]) => label!)
      const shown = [...legendFormat.matchAll(/\{\{ ?(?:\$labels\.)?(\w+) ?\}\}/g)].map(([, label]) => label!)
      for (const label of [...grouped, ...selected, ...shown]) {
        if (label === 'instance' || label === 'job') continue // Prometheus adds them
        for (const name of names) expect(labels.get(name) ?? [], `${query}: ${label}`).toContain(label)
      }
    }
  })

  it('alert on memory, errors and disk, and on each kind of fault once', () => {
    const all = alerts.groups.flatMap(({ rules }) => rules)
    const using = (metric: string) => all.filter(({ expr }) => expr.split(' unless ')[0]!.includes(metric))
    for (const metric of ['memory_limit_bytes', 'disk_free_bytes', 'errors_total', 'past_capacity']) {
      expect(using(`urlsieve_${metric}`), metric).toHaveLength(1)
    }
    const kinds = using('urlsieve_faults').flatMap(({ expr }) =>
      /kind=~?"([^"]*)"/.exec(expr)![1]!.split('|'),
    )
    expect([...kinds, 'past-capacity'].sort()).toEqual(Object.keys(faultKinds).sort())
  })

  it('has panels that say what they show and do not overlap', () => {
    const taken = new Set<string>()
    for (const {
      title,
      description,
      gridPos: { x, y, w, h },
    } of dashboard.panels) {
      expect(title).not.toBe('')
      expect(description, title).toMatch(/^\S.*[^.]$/)
      expect(x + w, title).toBeLessThanOrEqual(24)
      for (let i = x; i < x + w; i++) {
        for (let j = y; j < y + h; j++) {
          expect(taken, `${title} at ${i}, ${j}`).not.toContain(`${i},${j}`)
          taken.add(`${i},${j}`)
        }
      }
    }
  })
})

describe('the systemd unit', () => {
  it('sets variables that the server reads', () => {
    const names = read('deploy/urlsieve.service').match(/URLSIEVE_\w+/g)!
    for (const name of names) expect(variables).toContain(name)
  })

  const analyze = '/usr/bin/systemd-analyze'
  const hasSystemd = existsSync(analyze)
  it.skipIf(!hasSystemd)(
    `is one that systemd takes${hasSystemd ? '' : ' (skipped: no systemd-analyze)'}`,
    () => {
      const path = join(root, 'deploy/urlsieve.service')
      const { stderr } = spawnSync(analyze, ['verify', '--man=no', path], { encoding: 'utf8' })
      expect(stderr.split('\n').filter((line) => line.includes('urlsieve.service'))).toEqual([])
    },
  )
})

it('workflows and issue forms are YAML, and the workflow runs the test command', () => {
  for (const path of ['workflows/ci.yaml', 'ISSUE_TEMPLATE/defect.yml', 'ISSUE_TEMPLATE/wish.yml']) {
    expect(Object.keys(yaml(`.github/${path}`)), path).toContain('name')
  }
  expect(read('.github/workflows/ci.yaml')).toMatch(/\.ci\/run/)
})
