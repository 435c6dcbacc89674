// The cores that a process may use, of made-up /proc and /sys: the least quota of its cgroups and those above them.
import { mkdirSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { usableCores } from '../../src/cli/core-count.ts'
import { threadsOf } from '../../src/cli/thread-count.ts'
import { temporaryFolder } from './command.ts'

const folder = temporaryFolder()
let count = 0
function rootOf(files: Readonly<Record<string, string>>): string {
  const root = join(folder, String(count++))
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  return root
}

const v2 = (quotas: Readonly<Record<string, string>>, path = '/a/b') =>
  rootOf({
    'proc/self/cgroup': `0::${path}\n`,
    ...Object.fromEntries(
      Object.entries(quotas).map(([group, text]) => [`sys/fs/cgroup${group}/cpu.max`, `${text}\n`]),
    ),
  })
const v1 = (quotas: Readonly<Record<string, number>>) =>
  rootOf({
    'proc/self/cgroup': '5:memory:/a\n4:cpu,cpuacct:/a\n0::/\n',
    ...Object.fromEntries(
      Object.entries(quotas).flatMap(([group, quota]) => [
        [`sys/fs/cgroup/cpu,cpuacct${group}/cpu.cfs_quota_us`, `${quota}\n`],
        [`sys/fs/cgroup/cpu,cpuacct${group}/cpu.cfs_period_us`, '100000\n'],
      ]),
    ),
  })

it.each([
  ['v2, one core', v2({ '/a/b': '100000 100000' }), 1],
  ['v2, two and a half', v2({ '/a/b': '250000 100000' }), 2],
  ['v2, half a core', v2({ '/a/b': '50000 100000' }), 1],
  ['v2, a group above has less', v2({ '/a/b': 'max 100000', '/a': '300000 100000' }), 3],
  ['v2, of a container that sees its own group as the root', v2({ '': '200000 100000' }, '/docker/x'), 2],
  ['v2, none', v2({ '/a/b': 'max 100000' }), 8],
  ['v2, more than the cores', v2({ '/a/b': '6400000 100000' }), 8],
  ['v2, not numbers', v2({ '/a/b': '-1 0' }), 8],
  ['v1, one core', v1({ '/a': 100_000 }), 1],
  ['v1, a group above has less', v1({ '/a': -1, '': 400_000 }), 4],
  ['v1, none', v1({ '/a': -1 }), 8],
  ['neither', rootOf({ 'proc/self/cgroup': '' }), 8],
  ['no /proc', join(folder, 'none'), 8],
])('%s', (_, root, cores) => {
  expect(usableCores(root, 8)).toBe(cores)
})

it('no more threads than cores, also where more are asked for', () => {
  expect(threadsOf(64, 1e9, () => true)?.count ?? 1).toBe(Math.min(64, usableCores()))
  expect(usableCores()).toBeLessThanOrEqual(availableParallelism())
})
