// The gates of speed (gates/): `npm run bench -- --check` prints one line per gate and exits with 1 when one fails.

import { fileURLToPath } from 'node:url'
import { startVitest } from 'vitest/node'

const config = fileURLToPath(new URL('./gates/vitest.config.ts', import.meta.url))

/** Runs the gates whose file names contain one of the names, or all; returns whether all of them hold. */
export async function check(names = []) {
  const lines = []
  const vitest = await startVitest('test', names, { config, watch: false, reporters: [{}] })
  for (const module of vitest.state.getTestModules()) {
    for (const error of module.errors())
      lines.push({ ok: false, text: `${module.moduleId}: ${error.message}` })
    for (const test of module.children.allTests()) lines.push(lineOf(test))
  }
  await vitest.close()
  for (const { text } of lines) process.stdout.write(`${text}\n`)
  return lines.length > 0 && lines.every(({ ok }) => ok)
}

function lineOf(test) {
  const { state, errors } = test.result()
  const { measured } = test.meta()
  const reason = errors?.[0]?.message.split('\n', 1)[0]
  const detail = [measured, state === 'failed' && reason].filter(Boolean).join('; ')
  const word = { passed: 'ok', failed: 'FAILED', skipped: 'skipped' }[state] ?? state
  return { ok: state !== 'failed', text: `${word.padEnd(8)}${test.fullName}${detail && ` (${detail})`}` }
}
