// Prepares a release: checks the tree, the version and the changelog, runs the tests, packs the tarball, tries it in an
// empty project and tags the commit. It publishes nothing: the last line is the command that would.
//   node scripts/release.mjs            everything
//   node scripts/release.mjs --dry-run  everything but the tests and the tag
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const isDry = process.argv.includes('--dry-run')
const problems = []

function run(command, args, options = {}) {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: root, encoding: 'utf8', ...options })
  if (status === 0) return (stdout ?? '').trim()
  throw new Error(`${command} ${args.join(' ')}: exit ${status}\n${stderr ?? ''}`)
}

function check(what, isGood, advice) {
  console.log(`${isGood ? 'ok     ' : 'NOT ok '} ${what}${isGood ? '' : `: ${advice}`}`)
  if (!isGood) problems.push(what)
}

const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const changelog = readFileSync(join(root, 'CHANGELOG.md'), 'utf8')
const heading = changelog.split('\n').find((line) => line.startsWith('## '))

check('no uncommitted changes', run('git', ['status', '--porcelain']) === '', 'commit them first')
check(`v${version} is not tagged yet`, run('git', ['tag', '-l', `v${version}`]) === '', 'raise the version')
check(
  `CHANGELOG.md begins with ${version} and its date`,
  new RegExp(`^## ${version.replaceAll('.', '\\.')} – \\d{4}-\\d\\d-\\d\\d$`).test(heading ?? ''),
  `its first heading is '${heading}'; expected '## ${version} – YYYY-MM-DD'`,
)

if (!isDry && problems.length === 0) {
  run('npm', ['ci'], { stdio: 'inherit' })
  run('npm', ['test'], { stdio: 'inherit' })
}

const folder = mkdtempSync(join(tmpdir(), 'urlsieve-release-'))
try {
  const target = isDry ? folder : root
  const [packed] = JSON.parse(run('node', ['scripts/pack.mjs', target]))
  check(
    `${packed.filename}: ${(packed.unpackedSize / 1e6).toFixed(1)} MB`,
    packed.unpackedSize < 12e6,
    'expected under 12 MB',
  )
  writeFileSync(join(folder, 'package.json'), '{"private": true}\n')
  run('npm', ['install', '--no-audit', '--no-fund', join(target, packed.filename)], { cwd: folder })
  const input = 'https://example.com/\nhttps://EXAMPLE.com/\n'
  const unique = run('npx', ['urlsieve', 'dedupe'], { cwd: folder, input })
  check('the installed command removes a repeated URL', unique === 'https://example.com/', `got '${unique}'`)
  if (problems.length > 0) throw new Error(`not released: ${problems.join('; ')}`)
  if (isDry) console.log(`dry run: v${version} is not tagged, and the tests were not run`)
  else {
    run('git', ['tag', '-a', `v${version}`, '-m', `urlsieve ${version}`])
    console.log(
      `tagged v${version}. To publish: git push origin v${version} && npm publish ${packed.filename}`,
    )
  }
} catch (error) {
  console.error(error.message)
  process.exitCode = 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}
