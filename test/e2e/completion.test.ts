// Completions in the three shells, as the shells themselves see them, and the manual page.
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { commands } from '../../src/cli/commands.ts'
import { whyMissing } from '../support/debian.ts'
import { bash, root, temporaryFolder, urlsieve } from './command.ts'

const folder = temporaryFolder()

async function scriptOf(shell: string): Promise<string> {
  const { code, stdout, stderr } = await urlsieve(['completion', shell])
  expect(stderr).toBe('')
  expect(code).toBe(0)
  const path = join(folder, `urlsieve.${shell}`)
  writeFileSync(path, stdout)
  return path
}

const typed = [
  ['de', 'dedupe'],
  ['dedupe --filter cuc', 'cuckoo'],
  ['dedupe --profile agg', 'aggressive'],
  ['serve --durability alw', 'always'],
  ['serve --max-siev', '--max-sieves'],
] as const

describe('completion', () => {
  it('in bash', async () => {
    const script = await scriptOf('bash')
    for (const [words, expected] of typed) {
      const { stdout, stderr } = await bash(
        `source ${script}; COMP_WORDS=(urlsieve ${words}); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); _urlsieve; echo "\${COMPREPLY[@]}"`,
      )
      expect(stderr).toBe('')
      expect(String(stdout).trim()).toBe(expected)
    }
  })

  const noFish = whyMissing('fish')
  it.skipIf(noFish)(`in fish${noFish && ` (skipped: ${noFish})`}`, async () => {
    const script = await scriptOf('fish')
    for (const [words, expected] of typed) {
      const { stdout } = spawnSync('fish', ['-c', `source ${script}; complete -C "urlsieve ${words}"`], {
        encoding: 'utf8',
      })
      expect(stdout.split(/\s/)[0], words).toBe(expected)
    }
  })

  const noZsh = whyMissing('zsh')
  it.skipIf(noZsh)(`in zsh${noZsh && ` (skipped: ${noZsh})`}`, async () => {
    const script = await scriptOf('zsh')
    const { stderr, status } = spawnSync('zsh', ['-n', script], { encoding: 'utf8' })
    expect(stderr).toBe('')
    expect(status).toBe(0)
    const text = readFileSync(script, 'utf8')
    for (const [, expected] of typed) expect(text).toContain(expected)
  })

  it('of another shell is refused', async () => {
    const { code, stderr } = await urlsieve(['completion', 'tcsh'])
    expect(code).toBe(2)
    expect(stderr).toMatch(/'tcsh'.*bash, zsh, fish/)
  })
})

it('the manual page describes every command', async () => {
  const page = readFileSync(join(root, 'dist/man/urlsieve.1'), 'utf8')
  for (const name of Object.keys(commands)) {
    if (name !== 'manual') expect(page).toContain(`.SS "urlsieve ${name}`)
  }
  for (const line of page.split('\n').filter((line) => line.startsWith('.'))) {
    expect(line).toMatch(/^\.(TH|SH|SS|TP|B|br|nf|fi)( |$)/)
  }
})
