// Rules that a crawl learns on the way. A URL is left out when the rules merge it with a page that was fetched; every
// twentieth of these URLs is fetched nevertheless and its text compared. Rules are learned again as pages arrive and when a
// comparison fails; URLs that the new rules do not merge any more are returned to the queue. Errs towards "new": a page
// without a compared text covers nothing, and where memory ends URLs are fetched.
import { keyOf, type Profile, type ProfileName, profiles } from '../canonical/profiles.ts'
import { describeRule } from '../learn/learned-rule.ts'
import { learn, PageSet } from '../learn/learner.ts'
import { type LearnedRules, learnedProfile } from '../learn/rule-file.ts'

export interface CrawlRulesOptions {
  /** The profile of the crawl's sieve. */
  readonly profile: ProfileName
  /** The largest share of wrong merges that a rule may have, with 95 % confidence. */
  readonly risk: number
}

/** A URL that rules merge with a page that was fetched. */
export interface Merged {
  readonly of: string
  readonly reason: string
}

export interface RuleCounts {
  /** URLs that were not fetched. */
  readonly saved: number
  /** URLs that the rules merge and that were fetched to compare their text, and those whose text differed. */
  readonly checked: number
  readonly wrong: number
  /** URLs that went back to the queue because their rule was given up. */
  readonly requeued: number
  readonly rules: readonly string[]
}

interface Fetched {
  readonly url: string
  /** Under the profile alone. */
  readonly key: string
  readonly digest: string
}

interface Skipped {
  readonly url: string
  readonly depth: number
}

/** Rules are learned from this number of pages on, and again when it has grown by a fifth. */
const FIRST_PAGES = 200
const GROWTH = 1.2
/** After a text that differed: the pages since the last time, as a number and as a share of all. */
const LEAST_BETWEEN = 50
const LEAST_SHARE = 0.05
/** Of the URLs that rules merge, one in this number is fetched. */
const CHECKED_ONE_IN = 20
/** Pages that are learned from, which takes seconds then; later ones only count when their text differs. */
const MOST_LEARNED = 20_000
/** Pages that URLs are merged with, and URLs that could go back to the queue: the limits of memory. */
const MOST_PAGES = 500_000
const MOST_SKIPPED = 1_000_000

export class CrawlRules {
  readonly #options: CrawlRulesOptions
  readonly #pages: PageSet
  readonly #fetched: Fetched[] = []
  /** By key under the rules: the first page fetched. */
  #first = new Map<string, Fetched>()
  #rules: LearnedRules | null = null
  #profile: Profile
  #skipped: Skipped[] = []
  #merged = 0
  #due = FIRST_PAGES
  #learnedFrom = 0
  #checked = 0
  #wrong = 0
  #requeued = 0

  constructor(options: CrawlRulesOptions) {
    this.#options = options
    this.#pages = new PageSet(options.profile)
    this.#profile = profiles[options.profile]
  }

  /** The rules that all pages so far give, as `urlsieve learn` writes them. */
  learn(): LearnedRules {
    return learn(this.#pages, this.#options).rules
  }

  /** Why a URL need not be fetched; null: fetch it. `via`: the URLs that redirected to it. */
  skip({ url, depth, via }: Skipped & { readonly via: readonly string[] }): Merged | null {
    if (!this.#rules || this.#rules.rules.length === 0 || this.#skipped.length >= MOST_SKIPPED) return null
    const merged = this.#mergedWith(url)
    if (merged === null) return null
    // A page that redirects to another spelling of itself is fetched there.
    const key = keyOf(this.#profile, url)
    if (via.some((one) => keyOf(this.#profile, one) === key)) return null
    if (++this.#merged % CHECKED_ONE_IN === 0) return null
    this.#skipped.push({ url, depth })
    return { of: merged.url, reason: this.#reasonFor(url, merged.url) }
  }

  /** A page that was fetched with its whole text. Returns URLs that were skipped and have to be fetched now. */
  add(url: string, digest: string): readonly Skipped[] {
    const { profile } = this.#options
    const key = keyOf(profiles[profile], url)
    if (key === null || this.#fetched.length >= MOST_PAGES) return []
    const page = { url, key, digest }
    const isSame = this.#compare(page)
    const { length } = this.#fetched
    if (length < MOST_LEARNED || !isSame) this.#pages.add(page)
    this.#fetched.push(page)
    this.#keep(page)
    if (length >= this.#due && length < MOST_LEARNED) return this.#update()
    const between = Math.max(LEAST_BETWEEN, this.#learnedFrom * LEAST_SHARE)
    return !isSame && length >= this.#learnedFrom + between ? this.#update() : []
  }

  counts(): RuleCounts {
    return {
      saved: this.#skipped.length,
      checked: this.#checked,
      wrong: this.#wrong,
      requeued: this.#requeued,
      rules: this.#rules?.rules.map(describeRule) ?? [],
    }
  }

  // The page that the rules take for the one at `url`, unless it has the same key without them.
  #mergedWith(url: string): Fetched | null {
    const key = keyOf(this.#profile, url)
    const first = key === null ? undefined : this.#first.get(key)
    return first === undefined || first.key === keyOf(profiles[this.#options.profile], url) ? null : first
  }

  #compare({ url, digest }: Fetched): boolean {
    const first = this.#mergedWith(url)
    if (first === null) return true
    this.#checked++
    if (first.digest === digest) return true
    this.#wrong++
    return false
  }

  #keep(page: Fetched): void {
    const key = keyOf(this.#profile, page.url)!
    if (!this.#first.has(key)) this.#first.set(key, page)
  }

  #update(): readonly Skipped[] {
    this.#learnedFrom = this.#fetched.length
    this.#due = Math.ceil(this.#learnedFrom * GROWTH)
    this.#rules = this.learn()
    this.#profile = learnedProfile(this.#rules)
    this.#first = new Map()
    for (const page of this.#fetched) this.#keep(page)
    const again = this.#skipped.filter(({ url }) => this.#mergedWith(url) === null)
    if (again.length === 0) return again
    this.#skipped = this.#skipped.filter(({ url }) => this.#mergedWith(url) !== null)
    this.#requeued += again.length
    return again
  }

  // The rules that change one of two keys, in their order.
  #reasonFor(...urls: readonly string[]): string {
    const base = profiles[this.#options.profile]
    const keys = urls.map((url) => keyOf(base, url)!)
    const applied: string[] = []
    for (const rule of this.#profile.rules.slice(base.rules.length)) {
      const next = keys.map((key) => rule.apply(key) ?? key)
      if (next.some((key, i) => key !== keys[i])) applied.push(rule.does)
      keys.splice(0, keys.length, ...next)
    }
    return applied.join('; ')
  }
}
