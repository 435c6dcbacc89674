// Progress of a long run: shown on a terminal only, after two seconds, and replaced by a summary at the end.
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { clock, Progress } from '../../src/cli/progress.ts'
import { randomFrom } from '../support/random.mjs'
import { awk, urlLines } from './awk.ts'
import { bash, expectQuiet, temporaryFolder } from './command.ts'

describe('clock', () => {
  it.each([
    [-3, '0:00'],
    [0, '0:00'],
    [0.4, '0:00'],
    [0.6, '0:01'],
    [59.4, '0:59'],
    [59.6, '1:00'],
    [65, '1:05'],
    [600, '10:00'],
    [3599.4, '59:59'],
    [3599.6, '1:00:00'],
    [3665, '1:01:05'],
    [7384, '2:03:04'],
    [360_000, '100:00:00'],
  ])('%d s is %s', (seconds, text) => {
    expect(clock(seconds)).toBe(text)
  })
})

describe('text', () => {
  const reading = { lines: 12_345_678, fresh: 1_234_567, bytes: 400e6 }

  it('with the size known: lines, rates, share new, share done, time left', () => {
    expect(new Progress(1000e6).text(reading, 4)).toBe(
      '12,345,678 lines · 3.09 M/s · 100 MB/s · 10.0 % new · 40 % · 0:06 left',
    )
  })

  it('without it: no share done, no time left', () => {
    expect(new Progress(null).text(reading, 4)).toBe('12,345,678 lines · 3.09 M/s · 100 MB/s · 10.0 % new')
  })

  it('of a file that holds more than it said: the same', () => {
    for (const total of [0, 399e6]) expect(new Progress(total).text(reading, 4)).toMatch(/10\.0 % new$/)
    expect(new Progress(400e6).text(reading, 4)).toMatch(/100 % · 0:00 left$/)
  })

  it('at the start: no share of nothing', () => {
    const text = new Progress(100).text({ lines: 0, fresh: 0, bytes: 0 }, 2.5)
    expect(text).toBe('0 lines · 0.00 M/s · 0 MB/s · 0.0 % new')
  })
})

const missing = spawnSync('script', ['--version']).error !== undefined
const folder = temporaryFolder()
const lines = urlLines(randomFrom(51), 40_000, 10_000)
const expected = awk(lines)
const other = Array.from({ length: 20_000 }, (_, i) => `http://other.example/${i}\n`).join('')
writeFileSync(join(folder, 'lines.txt'), lines)
writeFileSync(join(folder, 'other.txt'), other)
const ERASE = '\r\x1b[K'
const SUMMARY =
  /^[\d.]+ k lines · [\d.,]+( k)? new · [\d.]+ k seen( · [\d.,]+( k)? not URLs)? · \d+\.\d s · [\d.,]+( [kM])? lines\/s\r\n$/
/** A reader that takes one line, and the others after more than two seconds: so long the command waits. */
const toSlowReader = (to: string) => `| (IFS= read -r first; sleep 2.2; (echo "$first"; cat) > ${to})`
const kept = (name: string) => readFileSync(join(folder, name))

/** What a terminal gets to see of a script. */
async function seen(name: string, script: string): Promise<string> {
  writeFileSync(join(folder, name), script)
  const ended = await bash(`script -qec 'bash ${name}' /dev/null`, { cwd: folder })
  expect(ended.code).toBe(0)
  return ended.stdout.toString()
}

const title = missing ? 'on a terminal (skipped: no script on the PATH)' : 'on a terminal'
describe.skipIf(missing).concurrent(title, () => {
  it('a file: rate, share new and time left, and the line is erased', async () => {
    const text = await seen('file', `"$URLSIEVE" dedupe --profile raw lines.txt ${toSlowReader('kept-file')}`)
    const shown = text.split(ERASE)
    expect(shown[0]).toBe('')
    expect(shown.at(-1)).toMatch(SUMMARY)
    expect(shown.length).toBeGreaterThan(2)
    const [, count, , , share, done] =
      /^([\d,]+) lines · ([\d.]+) M\/s · (\d+) MB\/s · ([\d.]+) % new · (\d+) % · \d+:\d\d left$/.exec(
        shown[1]!,
      )!
    expect(Number(count!.replaceAll(',', ''))).toBeGreaterThan(1000)
    expect(Number(share)).toBeGreaterThan(20)
    expect(Number(done)).toBeGreaterThan(5)
    expect(Number(done)).toBeLessThan(100)
    expect(kept('kept-file').equals(expected)).toBe(true)
  })

  it('a pipe: rate and share new, no time left', async () => {
    const text = await seen(
      'pipe',
      `(cat lines.txt; sleep 2.2; cat lines.txt) | "$URLSIEVE" dedupe --profile raw > kept-pipe`,
    )
    const shown = text.split(ERASE)
    expect(shown.length).toBeGreaterThan(2)
    expect(shown[1]).toMatch(/^[\d,]+ lines · [\d.]+ M\/s · \d+ MB\/s · [\d.]+ % new$/)
    expect(shown[0]).toBe('')
    expect(shown.at(-1)).toMatch(SUMMARY)
    expect(kept('kept-pipe').equals(expected)).toBe(true)
  })

  it('a short run: the summary alone, with what is not zero', async () => {
    expect(await seen('short', 'printf "https://example.com/\\n" | "$URLSIEVE" dedupe > kept-short')).toMatch(
      /^1 line · 1 new · \d\.\d s · \d+ lines\/s\r\n$/,
    )
  })

  it('--quiet: nothing, however long it takes', async () => {
    const command = `"$URLSIEVE" dedupe --quiet --profile raw lines.txt ${toSlowReader('kept-quiet')}`
    expect(await seen('quiet', command)).toBe('')
    expect(kept('kept-quiet').equals(expected)).toBe(true)
  })

  it('a failure after it: the line is erased, then one line says why', async () => {
    const room = Math.ceil(expected.length / 1024) + 1
    const input = '(cat lines.txt; sleep 2.2; cat lines.txt lines.txt other.txt)'
    const text = await seen(
      'failure',
      `${input} | (ulimit -f ${room}; "$URLSIEVE" dedupe -o limited; echo $?)`,
    )
    const shown = text.split(ERASE)
    expect(shown.length).toBeGreaterThan(2)
    expect(shown[1]).toMatch(/ % new$/)
    expect(shown.at(-1)).toMatch(/^urlsieve: cannot write limited: file too large[^\n]*\r\n4\r\n$/)
  })
})

describe.concurrent('elsewhere', () => {
  it('a pipe as stderr: nothing, however long it takes', async () => {
    const command = `"$URLSIEVE" dedupe --profile raw lines.txt ${toSlowReader('kept-nowhere')}`
    expectQuiet(await bash(command, { cwd: folder }))
    expect(kept('kept-nowhere').equals(expected)).toBe(true)
  })
})
