// The command that the delivery tests run; URLSIEVE_COMMAND names another build.
import { spawnSync } from 'node:child_process'
import { main } from '../e2e/command.ts'

export const command = process.env.URLSIEVE_COMMAND?.split(' ') ?? [process.execPath, main]

const [program, ...first] = command
const { stdout } = spawnSync(program!, [...first, 'dedupe', '--help'], { encoding: 'utf8' })
/** It has no `--append`: each run gets files of its own, and only what is lost is a problem. */
export const isOld = !stdout.includes('--append')
