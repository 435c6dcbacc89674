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
