// What several test files need and none changes is made once per run, by the first of them; the others wait for it.
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/** The environment variable that passes the folder of the run to its workers. */
export const RUN_FOLDER = 'URLSIEVE_TEST_BUILT'
const POLL_MS = 50
const TIMEOUT_MS = 100_000

/** True for the first caller of a run. */
export function isFirst(marker: string): boolean {
  try {
    mkdirSync(marker)
    return true
  } catch {
    return false
  }
}

/** The folder of that name in the folder of the run, filled once. When that fails, it fails for all. */
export async function oncePerRun(name: string, fill: (folder: string) => Promise<void>): Promise<string> {
  const run = process.env[RUN_FOLDER]!
  const [folder, ended] = [join(run, name), join(run, `${name}-ended`)]
  if (isFirst(folder)) {
    const trouble = await fill(folder).then(
      () => '',
      (error) => String(error),
    )
    writeFileSync(`${ended}.draft`, trouble)
    renameSync(`${ended}.draft`, ended)
  }
  for (const end = performance.now() + TIMEOUT_MS; !existsSync(ended); await sleep(POLL_MS)) {
    if (performance.now() > end) throw new Error(`${name} was not made by another test file`)
  }
  const trouble = readFileSync(ended, 'utf8')
  if (trouble !== '') throw new Error(trouble)
  return folder
}
