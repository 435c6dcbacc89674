// The test command: lint and types side by side, then every test; ends with one plain line that counts them.
import { spawn } from 'node:child_process'

/** Runs a program of node_modules; ends this one when it fails. */
const run = (...command) =>
  new Promise((resolve) => {
    spawn('npx', command, { stdio: 'inherit' }).on('close', (code) =>
      code === 0 ? resolve() : process.exit(code ?? 1),
    )
  })

await Promise.all([run('biome', 'check', '.'), run('tsc', '--noEmit'), run('tsc', '--noEmit', '-p', 'site')])
await run('vitest', 'run', ...process.argv.slice(2))
