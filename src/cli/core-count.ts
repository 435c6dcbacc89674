// How many cores this process may use: those of its affinity, less where its cgroup has a quota of time (a container, a
// service of systemd), which Node counts only from version 22 on.
import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { dirname, join } from 'node:path'

/** `root`: where /proc and /sys are. */
export function usableCores(root = '/', cores = availableParallelism()): number {
  return Math.max(1, Math.floor(Math.min(cores, quotaOf(root))))
}

// The least quota of the process's groups and of those that they are in, in cores.
function quotaOf(root: string): number {
  let least = Number.POSITIVE_INFINITY
  for (const line of textOf(join(root, 'proc/self/cgroup')).split('\n')) {
    const [, controllers, path] = /^\d+:([^:]*):(.*)$/.exec(line) ?? []
    if (path === undefined) continue
    const isV2 = controllers === ''
    if (!isV2 && !controllers!.split(',').includes('cpu')) continue
    const base = join(root, 'sys/fs/cgroup', isV2 ? '' : controllers!)
    // In a container the path may be that of the host: then its own group is the root of what it sees.
    for (let group = join('/', path); ; group = dirname(group)) {
      least = Math.min(least, isV2 ? quotaOfV2(join(base, group)) : quotaOfV1(join(base, group)))
      if (group === '/') break
    }
  }
  return least
}

/** `100000 100000`: microseconds of each so many; `max`: no quota. */
function quotaOfV2(folder: string): number {
  const [quota, period] = textOf(join(folder, 'cpu.max')).split(/\s/).map(Number)
  return ratioOf(quota, period)
}

function quotaOfV1(folder: string): number {
  const numberIn = (name: string) => Number(textOf(join(folder, name)) || Number.NaN)
  return ratioOf(numberIn('cpu.cfs_quota_us'), numberIn('cpu.cfs_period_us'))
}

const ratioOf = (quota = Number.NaN, period = Number.NaN) =>
  quota > 0 && period > 0 ? quota / period : Number.POSITIVE_INFINITY

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
