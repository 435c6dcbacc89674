// The real command, as a user starts it: dist/cli/main.js in a process of its own.
import { type SpawnOptions, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect } from 'vitest'

export const root = fileURLToPath(new URL('../../', import.meta.url))
export const main = join(root, 'dist/cli/main.js')
export const links = join(root, 'examples/links.txt')
if (!existsSync(main)) throw new Error(`${main} is missing: run 'npm run build' before the e2e tests`)

/** URLSIEVE_FULL=1: every case, at full size. */
export const isFull = process.env.URLSIEVE_FULL === '1'
/** Cases that take a way of their own; in a full run also those that are like one of them. */
export const cases = <T>(own: readonly T[], alike: readonly T[]): T[] =>
  isFull ? [...own, ...alike] : [...own]

export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: Buffer
  readonly stderr: string
}

interface Setting extends Pick<SpawnOptions, 'cwd' | 'env' | 'uid' | 'gid'> {
  /** What goes to stdin, and then its end; no stdin (/dev/null) without it. */
  input?: string | Uint8Array
}

/** Runs a program to its end. */
export function spawned(program: string, args: readonly string[], setting: Setting = {}): Promise<Ended> {
  const { input, ...rest } = setting
  const child = spawn(program, args, {
    ...rest,
    stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
  })
  const out: Buffer[] = []
  const err: Buffer[] = []
  child.stdout!.on('data', (chunk: Buffer) => out.push(chunk))
  child.stderr!.on('data', (chunk: Buffer) => err.push(chunk))
  child.stdin?.on('error', () => {}) // it may end before it has read all
  child.stdin?.end(input)
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code, signal) =>
      resolve({ code, signal, stdout: Buffer.concat(out), stderr: Buffer.concat(err).toString() }),
    )
  })
}

/** `urlsieve` with these arguments. */
export const urlsieve = (args: readonly string[], setting?: Setting) =>
  spawned(process.execPath, [main, ...args], setting)

/** A bash script in which $URLSIEVE is the command. */
export const bash = (script: string, setting: Setting = {}) =>
  spawned('bash', ['-c', script], { ...setting, env: { ...process.env, URLSIEVE: main, ...setting.env } })

/** A folder that is there until this file's tests have ended. */
export function temporaryFolder(): string {
  const path = mkdtempSync(join(tmpdir(), 'urlsieve-e2e-'))
  afterAll(() => rmSync(path, { recursive: true, force: true }))
  return path
}

/** It ended well and said nothing. */
export function expectQuiet(ended: Ended): void {
  expect(ended.stderr).toBe('')
  expect(ended).toMatchObject({ code: 0, signal: null })
}

/** It ended with that code and exactly one line on stderr that says why. */
export function expectFailure(ended: Ended, code: number, words: RegExp): void {
  expect(ended.stderr).not.toContain('    at ')
  expect(ended.stderr).toMatch(/^urlsieve: [^\n]+\n$/)
  expect(ended.stderr).toMatch(words)
  expect(ended).toMatchObject({ code, signal: null })
}

/** The lines of a text, without their newlines. */
export const linesOf = (bytes: Buffer) => bytes.toString().split('\n').slice(0, -1)

/** The commands in the help, under all headings. */
export function listedCommands(text: string): string[] {
  const [, groups] = /^Options:\n(?: {2}.*\n)+\n((?:\w.*:\n(?: {2}.*\n)+\n)+)Exit codes/m.exec(text)!
  return [...groups!.matchAll(/^ {2}([a-z]\S*)/gm)].map((match) => match[1]!)
}
