// docs/scale.md and the script it quotes agree, and the script's arithmetic is what the page says.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../../', import.meta.url))
const scale = (...args: string[]) =>
  execFileSync(process.execPath, [`${root}scripts/scale.mjs`, ...args], { encoding: 'utf8' })

describe('scripts/scale.mjs', () => {
  it('prints the tables of docs/scale.md', () => {
    const page = readFileSync(`${root}docs/scale.md`, 'utf8')
    for (const part of scale('--simulate')
      .trim()
      .split(/\n\n(?=simulated)/))
      expect(page).toContain(part)
  })

  it('has the figures of the table at the top', () => {
    const page = readFileSync(`${root}docs/scale.md`, 'utf8')
    const last = (name: string) =>
      scale()
        .split('\n')
        .find((line) => line.startsWith(name))!
        .split(/ {2,}/)
        .at(-1)
    expect(page).toContain(
      `| ${last('memory for them')} of memory, ${last('nodes with 1 replica each')} nodes with 1 replica`,
    )
    const [, bytes] = /bytesPerUrl": ([\d.]+)/.exec(scale('--costs'))!
    const [, urls] = /\| up to (\S+) +\| `urlsieve serve`, or one Redis node/.exec(page)!
    expect(Number(urls) * Number(bytes)).toBeLessThanOrEqual(0.6 * 16e9)
  })

  it('marks a tag that would wait for longer than calls do', () => {
    expect(scale('--urls', '1e11', '--retry', '30000')).not.toContain('!')
    const marked = scale('--urls', '1e11,1e12', '--retry', '20000')
    expect(marked).toMatch(/… a tag waits for +! 24 s +! 61 s/)
    expect(marked).toMatch(/\n! longer than retryMs \(20 s\): calls to that tag fail meanwhile/)
    // A sieve has no more tags.
    expect(marked).toMatch(/tags +4096 +16384/)
  })

  it('follows the numbers it is given', () => {
    const row = (text: string, name: string) =>
      text
        .split('\n')
        .find((line) => line.startsWith(name))!
        .slice(name.length)
        .trim()
    const small = scale('--urls', '1e9', '--links', '1000', '--node-memory', '64', '--lag', '1000')
    expect(row(small, 'primaries  ')).toBe('3 (the least)')
    // n² / 2 / 2^64, and 100 new URLs a second of which a third is on the lost primary.
    expect(row(small, 'pages lost, fingerprint')).toBe('0.027')
    expect(row(small, 'a primary lost: new again')).toBe('34 URLs')
    const large = scale('--urls', '1e12', '--replicas', '2')
    const [, primaries] = /(\d+) \(memory\)/.exec(large)!
    expect(row(large, 'nodes with 2 replicas each')).toBe(String(3 * Number(primaries)))
  })
})
