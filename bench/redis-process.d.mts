import type { ChildProcess } from 'node:child_process'

export function sleep(ms: number): Promise<void>
export function freePort(): Promise<number>
export function spawnRedis(args?: readonly string[]): Promise<{
  readonly port: number
  readonly url: string
  readonly child: ChildProcess
  readonly gone: Promise<void>
}>
