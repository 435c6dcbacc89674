// Learns rules from pages whose content is known. A candidate is found on one half of the trials (scope.ts), and kept only
// when the share of wrong ones in the other half is, with confidence, under the risk. Rules are tried one after another, each on
// the keys that those before it left, so that they hold together.

import { split } from '../canonical/parts.ts'
import { keyOf, type ProfileName, profiles, resolveProfile } from '../canonical/profiles.ts'
import { SieveError } from '../errors.ts'
import {
  aliasCandidates,
  groupCandidates,
  mirrorCandidates,
  parameterCandidates,
  segmentCandidates,
} from './candidates.ts'
import { boundOf, isSame, type MeasureOptions, measure, mergesOf, type Page } from './evidence.ts'
import { compileRule, type LearnedRule, type RuleData } from './learned-rule.ts'
import type { PageRecord } from './page-records.ts'
import { type LearnedRules, learnedProfile, RULES_FORMAT, RULES_VERSION } from './rule-file.ts'
import { LEVELS, memberOf } from './scope.ts'

/** How sure a rule has to be. */
export interface LearnOptions {
  /** The largest share of trials with a wrong merge, with confidence, that a rule may have. Default 0.01. */
  readonly risk?: number
  /** Of the bound on that share. Default 0.95. */
  readonly confidence?: number
  /** Pages of nearly the same text count as the same. Default false. */
  readonly near?: boolean
  /** The profile whose keys the rules take on. Default `web`. */
  readonly profile?: ProfileName
  /** Which trials are kept apart. */
  readonly seed?: number
}

/** What became of the lines that were read. */
export interface PageCounts {
  /** Different keys that were learned from. */
  pages: number
  /** Lines whose key came before with the same content. */
  repeats: number
  /** Keys whose content differed from one line to another: left out. */
  unstable: number
  /** Texts of fewer than 100 characters: left out, since short texts are equal by chance. */
  short: number
  /** URLs that the profile does not know as such. */
  invalid: number
}

/** The rules that were learned, and how. */
export interface Learned {
  /** To be written to a file, or made a profile. */
  readonly rules: LearnedRules
  /** What they were learned from. */
  readonly counts: PageCounts
  /** Rules that were tried, and those refused although no merge was wrong: for want of pages. */
  readonly tried: number
  readonly unproven: readonly { readonly rule: RuleData; readonly merges: number }[]
}

/** Fewer merges on the pages that a rule is found with are chance. */
const LEAST_MERGES = 5
const LEAST_CHARACTERS = 100
const CONFIDENCE = 0.95

/** Pages by their keys. */
export class PageSet {
  readonly counts: PageCounts = { pages: 0, repeats: 0, unstable: 0, short: 0, invalid: 0 }
  readonly #profile: ProfileName
  readonly #pages = new Map<string, Page | null>()

  constructor(profile: ProfileName = 'web') {
    this.#profile = profile
  }

  /** Takes in one page. */
  add({ url, digest, simhash, length, near }: PageRecord): void {
    if (length !== undefined && length < LEAST_CHARACTERS) {
      this.counts.short++
      return
    }
    const key = keyOf(resolveProfile(this.#profile), url)
    if (key === null || split(key).authority === '') {
      this.counts.invalid++
      return
    }
    const known = this.#pages.get(key)
    if (known === undefined) {
      this.#pages.set(key, { url, key, digest, simhash, near })
      this.counts.pages++
    } else if (known !== null && known.digest !== digest) {
      this.#pages.set(key, null)
      this.counts.unstable++
      this.counts.pages--
    } else this.counts.repeats++
  }

  /** Copies, which rules can change. */
  list(): Page[] {
    return [...this.#pages.values()].filter((page) => page !== null).map((page) => ({ ...page }))
  }
}

/**
 * Rules that merge URLs with the same content, found on half of the pages and proven on the other half. Throws a SieveError, one
 * line, for an invalid option.
 */
export function learn(set: PageSet, options: LearnOptions = {}): Learned {
  const { risk = 0.01, confidence = CONFIDENCE, near = false, profile = 'web', seed = 0 } = options
  if (!(risk > 0 && risk < 1))
    throw new SieveError('option', `risk ${risk}: expected a number between 0 and 1`)
  const pages = set.list()
  const halfOf = (trial: string) => ((hashOf(trial, seed) >>> 16) & 1) as 0 | 1
  const session = new Session(byHost(pages), near, { risk, confidence, halfOf })
  session.run()
  const rules = session.kept
  return {
    rules: {
      format: RULES_FORMAT,
      version: RULES_VERSION,
      profile,
      risk,
      confidence,
      near,
      pages: pages.length,
      rules,
    },
    counts: set.counts,
    tried: session.tried,
    unproven: session.unproven.sort((a, b) => b.merges - a.merges),
  }
}

class Session {
  readonly kept: LearnedRule[] = []
  readonly unproven: { rule: RuleData; merges: number }[] = []
  tried = 0
  readonly #hosts: Map<string, Page[]>
  readonly #near: boolean
  readonly #options: MeasureOptions

  constructor(hosts: Map<string, Page[]>, near: boolean, options: MeasureOptions) {
    this.#hosts = hosts
    this.#near = near
    this.#options = options
  }

  run(): void {
    for (const rule of mirrorCandidates(this.#hosts)) this.#try(rule)
    for (const host of [...this.#hosts.keys()]) {
      for (const find of [aliasCandidates, parameterCandidates, groupCandidates, segmentCandidates])
        for (const rule of find(host, this.#hosts.get(host)!)) this.#try(rule)
    }
  }

  // At every level, from the widest on; what a wider one leaves is tried at the next.
  #try(data: RuleData): void {
    this.tried++
    const first = this.#merges(data)
    let merges = first
    let isKept = false
    for (const level of LEVELS) {
      const { found, heldOut, scope, counterExamples } = measure(merges, level, this.#options)
      if (found.merges < LEAST_MERGES || heldOut.upper >= this.#options.risk) continue
      const rule = { ...data, scope, found, heldOut, counterExamples }
      this.kept.push(rule)
      this.#apply(rule)
      isKept = true
      merges = this.#merges(data)
    }
    const isUnproven = !isKept && first.length >= LEAST_MERGES && !first.some(({ isWrong }) => isWrong)
    if (isUnproven) this.unproven.push({ rule: data, merges: first.length })
  }

  #merges(data: RuleData) {
    return mergesOf(compileRule(data), this.#pagesFor(data), this.#near)
  }

  #pagesFor({ host, to }: RuleData): Page[] {
    const own = this.#hosts.get(host) ?? []
    return to === undefined ? own : [...(this.#hosts.get(to) ?? []), ...own]
  }

  // Of the pages with one key, the first stays. A mirror's pages out of the rule's scope stay where they are.
  #apply(rule: LearnedRule): void {
    const pages = this.#pagesFor(rule)
    const { apply } = compileRule(rule)
    for (const page of pages) page.key = apply(page.key) ?? page.key
    const left = new Map<string, Page>()
    for (const page of pages) if (!left.has(page.key)) left.set(page.key, page)
    for (const host of [rule.host, ...(rule.to === undefined ? [] : [rule.to])]) this.#hosts.set(host, [])
    for (const [host, list] of byHost([...left.values()])) this.#hosts.set(host, list)
  }
}

/** What learned rules do to other pages. */
export interface Checked {
  /** Different keys that were compared. */
  readonly pages: number
  /** URLs that the rules merge with another one: fetches saved. */
  readonly merges: number
  /** Merges of pages with the same content. */
  readonly right: number
  /** Merges of pages whose contents differ. */
  readonly wrong: number
  /** The share of paths with a wrong merge is at most this, with the file's confidence. */
  readonly upper: number
  readonly counterExamples: readonly (readonly [string, string])[]
}

/** What learned rules do to other pages, all rules together. */
export function checkRules(rules: LearnedRules, set: PageSet): Checked {
  const profile = learnedProfile(rules)
  const learned = profile.rules.slice(profiles[rules.profile].rules.length)
  const apply = (key: string) => learned.reduce((form, rule) => rule.apply(form) ?? form, key)
  const pages = set.list()
  const groups = new Map<string, Page>()
  const counterExamples: [string, string][] = []
  const paths = new Set<string>()
  const wrongPaths = new Set<string>()
  let merges = 0
  let wrong = 0
  for (const page of pages) {
    const key = apply(page.key)
    const first = groups.get(key)
    if (first === undefined) groups.set(key, page)
    else {
      const path = split(key).authority + memberOf('path', key)
      paths.add(path)
      merges++
      if (isSame(first, page, rules.near)) continue
      wrong++
      wrongPaths.add(path)
      if (counterExamples.length < 10) counterExamples.push([first.url, page.url])
    }
  }
  const upper = boundOf({ trials: paths.size, wrong: wrongPaths.size }, rules.confidence)
  return { pages: pages.length, merges, right: merges - wrong, wrong, upper, counterExamples }
}

function byHost(pages: readonly Page[]): Map<string, Page[]> {
  const hosts = new Map<string, Page[]>()
  for (const page of pages) {
    const host = split(page.key).authority.slice(2)
    const list = hosts.get(host)
    if (list) list.push(page)
    else hosts.set(host, [page])
  }
  return hosts
}

// FNV-1a with a seed: which half, nothing else.
function hashOf(text: string, seed: number): number {
  let hash = 0x811c9dc5 ^ seed
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d)
  return hash ^ (hash >>> 13)
}
