// The options of limits by shape, each described once, as a server takes them with a sieve.
import { choice, type Kind, rateKind, type SieveOption, type ValueOf, wholeNumber } from './option.ts'

const yes: Kind<true> = {
  label: 'yes',
  placeholder: 'yes',
  expected: 'yes',
  valid: 'true',
  read: (text) => (text === 'yes' || text === 'true' ? true : null),
  isValid: (value): value is true => value === true,
  schema: { type: 'boolean', const: true },
}

export const limitOptions = [
  {
    name: 'keepPerShape',
    kind: wholeNumber(1),
    does: 'new URLs to keep of each shape',
    flag: '--keep-per-shape',
    word: 'KEEPPERSHAPE',
  },
  {
    name: 'keepPerTrap',
    kind: wholeNumber(50),
    does: 'new URLs to keep of each suspicious shape: calendars, sessions, …',
    flag: '--keep-per-trap',
    word: 'KEEPPERTRAP',
  },
  {
    name: 'maxShare',
    kind: rateKind,
    does: "largest share of a host's new URLs for one shape",
    flag: '--max-share',
    word: 'MAXSHARE',
  },
  {
    name: 'maxCrawlShare',
    kind: rateKind,
    does: 'largest share of all new URLs for one shape of a host',
    flag: '--max-crawl-share',
    word: 'MAXCRAWLSHARE',
  },
  {
    name: 'maxRepeats',
    kind: wholeNumber(1),
    does: 'occurrences of one segment in a path',
    flag: '--max-repeats',
    word: 'MAXREPEATS',
  },
  {
    name: 'queryNames',
    kind: yes,
    does: 'of one path keep only URLs with a new set of parameter names',
    flag: '--query-names',
    word: 'QUERYNAMES',
  },
  {
    name: 'assets',
    kind: choice(['skip']),
    does: 'skip: drop images, styles, scripts, archives, … by extension',
    flag: '--assets',
    word: 'ASSETS',
  },
] as const satisfies readonly SieveOption[]

export type LimitOptions = {
  readonly [O in (typeof limitOptions)[number] as O['name']]?: ValueOf<O> | undefined
}
