// The test command: lint, types and every test; ends with one plain line that counts them.
import { spawnSync } from 'node:child_process'

const steps = [
  ['npx', ['biome', 'check', '.']],
  ['npx', ['tsc', '--noEmit']],
  ['npx', ['tsc', '--noEmit', '-p', 'site']],
  ['npx', ['vitest', 'run', ...process.argv.slice(2)]],
]
for (const [command, args] of steps) {
  const { status } = spawnSync(command, args, { stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
}
