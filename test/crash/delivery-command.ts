// The command that the delivery tests run, URLSIEVE_COMMAND names another build, and the disk on which it fails.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll } from 'vitest'
import { main } from '../e2e/command.ts'

export const command = process.env.URLSIEVE_COMMAND?.split(' ') ?? [process.execPath, main]

const [program, ...first] = command
const { stdout } = spawnSync(program!, [...first, 'dedupe', '--help'], { encoding: 'utf8' })
/** It has no `--append`: each run gets files of its own, and only what is lost is a problem. */
export const isOld = !stdout.includes('--append')

/** The option that names the job of a run on Redis, whose marks are its own until they are confirmed; undefined: there is none. */
export const redisJob = stdout.includes('--redis-job') ? '--redis-job' : undefined

/** failing-disk.c as a library; undefined: it cannot be built. */
export function failingDisk(): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'urlsieve-disk-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  const source = fileURLToPath(new URL('failing-disk.c', import.meta.url))
  const library = join(folder, 'failing-disk.so')
  const gcc = ['-shared', '-fPIC', '-O1', '-o', library, source, '-ldl', '-pthread']
  return process.platform === 'linux' && spawnSync('gcc', gcc).status === 0 ? library : undefined
}
