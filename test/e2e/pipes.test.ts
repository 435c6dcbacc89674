// `urlsieve dedupe` between pipes: slow ones, named ones, non-blocking ones, and ones whose reader has gone. Some
// commands; URLSIEVE_FULL=1: all.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { randomFrom } from '../support/random.mjs'
import { awk, urlLines } from './awk.ts'
import { bash, cases, expectQuiet, links, main, temporaryFolder } from './command.ts'

const folder = temporaryFolder()
const lines = urlLines(randomFrom(31), 100_000, 60_000) // 5 MB: far more than a pipe holds
const expected = awk(lines)
const big = join(folder, 'big.txt')
writeFileSync(big, lines)
const env = { BIG: big, LINKS: links, HELPER: fileURLToPath(new URL('nonblocking.mjs', import.meta.url)) }
const inFolder = (script: string) => bash(script, { cwd: folder, env })

describe.concurrent('a slow pipe', () => {
  it('cut anywhere: every line is whole', async () => {
    const random = randomFrom(32)
    const input = urlLines(random, 60, 30)
    const child = spawn(process.execPath, [main, 'dedupe', '--profile', 'raw'])
    const out: Buffer[] = []
    child.stdout.on('data', (chunk: Buffer) => out.push(chunk))
    for (let at = 0; at < input.length; ) {
      const size = 1 + Math.floor(random() * 200)
      child.stdin.write(input.subarray(at, at + size))
      at += size
      await sleep(20)
    }
    child.stdin.end()
    const [code] = await once(child, 'close')
    expect(code).toBe(0)
    expect(Buffer.concat(out).equals(awk(input))).toBe(true)
  })

  it('a real one, with pauses within a line', async () => {
    const parts = ['http://a.exa', 'mple/\nhttp://b.example/\nht', 'tp://a.example/\n\nhttp://c.example', '/']
    const script = `(${parts.map((part) => `printf '%s' '${part}'`).join('; sleep 0.15; ')}) | "$URLSIEVE" dedupe`
    const ended = await inFolder(script)
    expectQuiet(ended)
    expect(ended.stdout.toString()).toBe('http://a.example/\nhttp://b.example/\n\nhttp://c.example/\n')
  })

  it('a whole line is answered before the next one comes', async () => {
    const child = spawn(process.execPath, [main, 'dedupe'])
    try {
      for (const [piece, answer] of [
        ['http://a.example/\nhttp://b.exam', 'http://a.example/\n'],
        ['ple/\nhttp://a.example/\nhttp://c.example/\nhttp', 'http://b.example/\nhttp://c.example/\n'],
      ] as const) {
        child.stdin.write(piece)
        const [chunk] = (await once(child.stdout, 'data', { signal: AbortSignal.timeout(20_000) })) as [
          Buffer,
        ]
        expect(chunk.toString()).toBe(answer)
      }
    } finally {
      child.kill()
    }
  })
})

describe('a named pipe', () => {
  it.each([
    ['cat', 'plain'],
    ['gzip -c', 'packed.gz'],
  ])('written by %s is read once, from its start', async (writer, name) => {
    const ended = await inFolder(
      `mkfifo ${name}; timeout 20 ${writer} "$BIG" > ${name} & timeout 20 "$URLSIEVE" dedupe --profile raw ${name}
       code=$?; wait $! || exit 99; exit $code`,
    )
    expectQuiet(ended)
    expect(ended.stdout.equals(expected)).toBe(true)
  })

  it('of the shell, next to a file', async () => {
    const ended = await inFolder(`"$URLSIEVE" dedupe --profile raw <(head -c 3000001 "$BIG") "$BIG"`)
    expectQuiet(ended)
    const cut = Buffer.concat([lines.subarray(0, 3_000_001), Buffer.from('\n'), lines])
    expect(ended.stdout.equals(awk(cut))).toBe(true)
  })
})

describe.skipIf(process.platform !== 'linux').concurrent('a non-blocking descriptor', () => {
  it('stdin: waits for what comes late', async () => {
    const command = `node "$HELPER" 0 stdin-note "$URLSIEVE" dedupe --profile raw`
    const ended = await inFolder(
      `(sleep 0.7; head -c 1000003 "$BIG"; sleep 0.5; tail -c +1000004 "$BIG") | ${command}`,
    )
    expectQuiet(ended)
    expect(readFileSync(join(folder, 'stdin-note'), 'utf8')).toBe('non-blocking')
    expect(ended.stdout.equals(expected)).toBe(true)
  })

  it('stdout: waits for a reader that is late', async () => {
    const command = `node "$HELPER" 1 stdout-note "$URLSIEVE" dedupe --profile raw "$BIG"`
    const ended = await inFolder(`${command} | (sleep 1; cat); exit \${PIPESTATUS[0]}`)
    expectQuiet(ended)
    expect(readFileSync(join(folder, 'stdout-note'), 'utf8')).toBe('non-blocking')
    expect(ended.stdout.equals(expected)).toBe(true)
  })
})

describe('a reader that has gone', () => {
  const own: [string, number][] = [
    ['dedupe "$BIG" | head -1', 1],
    ['dedupe "$BIG" | true', 0],
    ['plan --urls 1e6 | true', 0],
    ['--help | true', 0],
  ]
  const alike: [string, number][] = [
    ['dedupe --keys "$BIG" | head -1', 1],
    ['explain http://a.example/ | true', 0],
    ['--version | true', 0],
  ]
  it.each(cases(own, alike))('%s: a normal end', async (command, count) => {
    // The reader of `| true` ends first: the command takes longer to start.
    const ended = await inFolder(`"$URLSIEVE" ${command}; exit \${PIPESTATUS[0]}`)
    expectQuiet(ended)
    expect(ended.stdout.toString().split('\n')).toHaveLength(count + 1)
  })

  it('of stderr: the exit code stays', async () => {
    const ended = await inFolder(
      `"$URLSIEVE" dedupe missing.txt 2>&1 >/dev/null | true; exit \${PIPESTATUS[0]}`,
    )
    expect(ended).toMatchObject({ code: 3, stderr: '' })
    const stats = await inFolder(
      `"$URLSIEVE" dedupe --stats "$LINKS" 2>&1 >lines | true; exit \${PIPESTATUS[0]}`,
    )
    expect(stats).toMatchObject({ code: 0, stderr: '' })
    expect(readFileSync(join(folder, 'lines')).length).toBeGreaterThan(0)
  })
})
