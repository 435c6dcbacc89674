// The package as npm gives it to a user: packed once per run and installed in an empty project.
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Ended, root, spawned, temporaryFolder } from '../e2e/command.ts'
import { withCertificates } from '../support/certificates.ts'
import { oncePerRun } from '../support/once.ts'

/** Under `npm test` npm describes this repository in the environment; another project must not see it. */
const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('npm_')))
const QUIETLY = ['--no-audit', '--no-fund', '--ignore-scripts', '--prefer-offline']

export interface Packed {
  readonly tarball: string
  /** The paths in the tarball, without npm's leading `package/`. */
  readonly paths: readonly string[]
}

/** A project with nothing but the package. */
export class Project {
  readonly folder: string

  constructor(folder: string) {
    this.folder = folder
  }

  write(name: string, text: string): void {
    writeFileSync(join(this.folder, name), text)
  }

  read(name: string): string {
    return readFileSync(join(this.folder, name), 'utf8')
  }

  /** Runs a program in the project, whatever its exit code. */
  spawn(program: string, args: readonly string[], more: NodeJS.ProcessEnv = {}): Promise<Ended> {
    return spawned(program, args, { cwd: this.folder, env: { ...env, ...more } })
  }

  /** Its standard output; throws when the exit code is not 0. */
  run(program: string, args: readonly string[]): Promise<string> {
    return outputOf(program, args, this.folder)
  }

  /** The installed command, started as npm's link in node_modules/.bin starts it. */
  command(...args: string[]): Promise<Ended> {
    return this.spawn(process.execPath, [join(this.folder, 'node_modules/.bin/urlsieve'), ...args])
  }
}

async function outputOf(program: string, args: readonly string[], cwd: string): Promise<string> {
  const { code, stdout, stderr } = await spawned(program, args, { cwd, env })
  if (code !== 0) throw new Error(`${program} ${args.join(' ')}: exit ${code}\n${stderr}${stdout}`)
  return stdout.toString()
}

/** The tarball of `scripts/pack.mjs`, from dist/ as it was built; made once for all test files, which must not change it. */
export async function pack(): Promise<Packed> {
  const folder = await oncePerRun('packed', async (path) => {
    const told = await outputOf(process.execPath, ['scripts/pack.mjs', path], root)
    writeFileSync(join(path, 'told.json'), told)
  })
  const told = readFileSync(join(folder, 'told.json'), 'utf8')
  const [{ filename, files }] = JSON.parse(told) as [{ filename: string; files: { path: string }[] }]
  return { tarball: join(folder, filename), paths: files.map(({ path }) => path) }
}

/**
 * An empty project with the tarball installed; no network is needed, since the package has no dependency. Installed once for
 * all test files, of which each has a copy.
 */
export async function install({ tarball }: Packed): Promise<Project> {
  const installed = await oncePerRun('installed', async (path) => {
    const project = new Project(path)
    project.write('package.json', '{ "private": true, "type": "module" }')
    await project.run('npm', ['install', ...QUIETLY, tarball])
  })
  const folder = join(temporaryFolder(), 'project')
  cpSync(installed, folder, { recursive: true, verbatimSymlinks: true })
  return new Project(folder)
}

/** Installs one package of the registry in a folder; the reason as one line when that fails. */
export async function fetchPackage(name: string, folder: string): Promise<string | undefined> {
  mkdirSync(folder, { recursive: true })
  const patience = ['--fetch-retries=1', '--fetch-timeout=60000']
  const args = ['install', ...QUIETLY, ...patience, '--no-save', '--prefix', folder, name]
  const { code, stderr } = await spawned('npm', args, { cwd: folder, env: withCertificates(env) })
  if (code === 0) return undefined
  const reason = /npm error (?!code)(.+)/.exec(stderr)?.[1] ?? stderr.trim().split('\n').at(-1)
  return `npm could not install ${name}: ${reason}`
}
