// The flags of what pages state about themselves and their links: one flag for each signal, obeyed or used by default.
import type { Command } from 'commander'
import { type PageSignal, pageSignals } from '../crawlers/page-signals.ts'

export interface SignalFlags {
  sitemaps?: boolean
}

const names = Object.keys(pageSignals) as PageSignal[]
const flagOf = (name: PageSignal) =>
  `--ignore-${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
const attributeOf = (name: PageSignal) => `ignore${name[0]!.toUpperCase()}${name.slice(1)}`

export function withSignalOptions(command: Command): Command {
  command.optionsGroup('What pages state (obeyed and used by default):')
  for (const name of names) command.option(flagOf(name), pageSignals[name])
  return command
    .option('--sitemaps', 'also read sitemaps: those in robots.txt, else /sitemap.xml')
    .optionsGroup('Options:')
}

/** The signals that the flags turn off. */
export function ignoredBy(flags: object): ReadonlySet<PageSignal> {
  return new Set(names.filter((name) => (flags as Record<string, unknown>)[attributeOf(name)] === true))
}
