// `urlsieve inspect` of a filter that forgets: its window, and when it forgets next.
import { expect, it } from 'vitest'
import { linesOf, temporaryFolder, urlsieve } from './command.ts'

const cwd = temporaryFolder()
const input = Array.from({ length: 300 }, (_, i) => `https://example.com/${i}\n`).join('')

async function inspected(state: string, window: string) {
  const made = await urlsieve(['dedupe', '--filter', 'window', '--window', window, '--state', state], {
    cwd,
    input,
  })
  expect(made.code).toBe(0)
  const [text, json] = await Promise.all([
    urlsieve(['inspect', state], { cwd }),
    urlsieve(['inspect', state, '--json'], { cwd }),
  ])
  const rows = Object.fromEntries(linesOf(text.stdout).map((line) => line.split(/ {2,}/) as [string, string]))
  return { rows, window: JSON.parse(json.stdout.toString()).window }
}

it('by age', async () => {
  const before = Date.now()
  const { rows, window } = await inspected('by-age', '30d')
  expect(window).toMatchObject({
    windowMs: 2_592_000_000,
    windowUrls: null,
    generations: 8,
    forgetsUrls: 300,
  })
  const born = Date.parse(window.forgetsAt) - window.windowMs
  expect(born).toBeGreaterThanOrEqual(before)
  expect(born).toBeLessThanOrEqual(Date.now())
  expect(rows.window).toBe('30d, in 8 generations')
  expect(rows['forgets next']).toBe(`300 URLs at ${window.forgetsAt}`)
})

it('by count: the URL with which the oldest are forgotten', async () => {
  const { rows, window } = await inspected('by-count', '1000')
  expect(window).toMatchObject({ windowMs: null, windowUrls: 1000, forgetsUrls: 125, forgetsAfterUrls: 701 })
  expect(rows.window).toBe('1,000 URLs, in 8 generations')
  const more = (from: number, count: number) =>
    Array.from({ length: count }, (_, i) => `https://example.com/${from + i}\n`).join('')
  const first = () => urlsieve(['check', '--state', 'by-count', 'https://example.com/0'], { cwd })
  await urlsieve(['dedupe', '--state', 'by-count'], { cwd, input: more(300, 700) })
  expect((await first()).code).toBe(0)
  await urlsieve(['dedupe', '--state', 'by-count'], { cwd, input: more(1000, 1) })
  expect((await first()).code).toBe(1)
})
