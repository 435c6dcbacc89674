// `urlsieve explain`: the key of a URL and why.
import type { Command } from 'commander'
import { Sieve } from '../index.ts'
import { paintChange, paintFor } from './colour.ts'
import { type LimitFlags, limitsOf, strippedProfile, withLimitOptions } from './limit-options.ts'
import { Output } from './output.ts'
import { type SieveFlags, sieveOptions, withSieveOptions } from './sieve-options.ts'

export function explainCommand(program: Command): void {
  withLimitOptions(withSieveOptions(program.command('explain')))
    .summary('show the key of a URL and why')
    .description(
      'Shows the key of each URL, what each rule of the profile did to it, and which of them are the same.',
    )
    .argument('<urls...>', 'URLs')
    .option('--json', 'one JSON object per URL')
    .addHelpText(
      'after',
      `
Example:
  urlsieve explain 'https://Example.com:443/a/../b#top' http://example.com/b`,
    )
    .action(explain)
}

async function explain(
  urls: string[],
  flags: SieveFlags & LimitFlags & { json?: boolean },
  command: Command,
): Promise<void> {
  if (flags.strip) command.setOptionValueWithSource('profile', strippedProfile(flags.profile, flags), 'cli')
  const sieve = await Sieve.create(sieveOptions(command.opts()))
  const options = limitsOf(flags)
  const limits =
    options &&
    new (await import('../shapes/shape-limits.ts')).ShapeLimits({ profile: sieve.profile, ...options })
  const output = new Output()
  const paint = paintFor(1)
  const verdictOf = (verdict: string) => paint(verdict === 'new' ? 'green' : 'yellow', verdict)
  for (const url of urls) {
    const explained = sieve.explain(url)
    const drop = explained.verdict === 'new' && limits ? limits.admit(url) : null
    const explanation = { ...explained, ...(limits && { drop }) }
    sieve.add(url)
    if (flags.json) {
      output.print(`${JSON.stringify(explanation)}\n`)
      continue
    }
    const steps = explanation.steps.filter((step) => step.changed)
    const width = Math.max(...steps.map((step) => step.rule.length), 7)
    output.print(`${url}\n  ${'key'.padEnd(width)}  ${paint('bold', explanation.key)}\n`)
    for (const step of steps) {
      const [before, after] = paintChange(paint, step.before, step.after)
      output.print(`  ${step.rule.padEnd(width)}  ${before} → ${after}\n`)
      for (const note of step.notes) output.print(`  ${''.padEnd(width)}    ${paint('dim', note)}\n`)
    }
    if (!explanation.isUrl)
      output.print(`  ${paint('red', 'invalid'.padEnd(width))}  not a URL: its key is the line unchanged\n`)
    output.print(`  ${'verdict'.padEnd(width)}  ${verdictOf(explanation.verdict)}\n`)
    if (drop) output.print(`  ${'dropped'.padEnd(width)}  ${drop.limit}: ${drop.reason}\n`)
    for (const { name, of, verdict } of explanation.layers ?? []) {
      const mark = name === explanation.decidedBy ? ' (decides)' : ''
      output.print(`  ${''.padEnd(width)}    ${name}: ${verdictOf(verdict)}${mark}  ${of}\n`)
    }
  }
}
