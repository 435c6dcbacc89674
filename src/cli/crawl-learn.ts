// `crawl --learn`: rules that are found on the way, the URLs that they leave out, and the file they are written to.
import type { Command } from 'commander'
import { type Profile, type ProfileName, profiles } from '../canonical/profiles.ts'
import type { RuleCounts } from '../crawlers/crawl-rules.ts'
import type { SiteCrawlOptions } from '../crawlers/site-crawl.ts'
import { formatCount, formatCounted, parseRate } from '../quantities.ts'
import { CommandError, EXIT } from './exit.ts'
import { Output } from './output.ts'

export interface LearnFlags {
  learn?: boolean
  learnRisk: number
  learnOutput?: string
}

export function withLearnOptions(command: Command): Command {
  return command
    .option(
      '--learn',
      'find parameters and spellings that do not change the page, and leave such URLs out; compares texts as --content does',
    )
    .option('--learn-risk <rate>', 'largest share of wrong merges of a rule', parseRate('--learn-risk'), 0.01)
    .option('--learn-output <file>', 'write the rules here, for --profile of the next crawl; implies --learn')
}

export const isLearning = ({ learn, learnOutput }: LearnFlags) => learn === true || learnOutput !== undefined

export interface Learning {
  /** For the crawl. */
  readonly option: NonNullable<SiteCrawlOptions['learning']>
  counts(): { readonly learned: RuleCounts }
  /** Writes the file. */
  close(): void
}

/** `onDrop` gets each URL that is left out, with the reason. Its code is loaded only now. */
export async function startLearning(
  { learnRisk: risk, learnOutput }: LearnFlags,
  profile: Profile,
  onDrop: (url: string, reason: string) => void,
): Promise<Learning> {
  if ((profiles as Record<string, Profile>)[profile.name]?.rules.length !== profile.rules.length) {
    throw new CommandError(
      EXIT.usage,
      `--learn with the profile ${profile.name}: expected one of ${Object.keys(profiles).join(', ')}, whose keys the rules take on`,
    )
  }
  const { CrawlRules } = await import('../crawlers/crawl-rules.ts')
  const rules = new CrawlRules({ profile: profile.name as ProfileName, risk })
  const file = learnOutput === undefined ? null : new Output(learnOutput)
  return {
    option: { rules, onSkip: (url, { of, reason }) => onDrop(url, `${reason}: the page at ${of}`) },
    counts: () => ({ learned: rules.counts() }),
    close() {
      file?.print(`${JSON.stringify(rules.learn(), null, 2)}\n`)
      file?.close()
    },
  }
}

/** Rules in the summary. */
const SHOWN_RULES = 10

/** Lines of the summary. */
export function learnedLines({ saved, checked, wrong, requeued, rules }: RuleCounts): string[] {
  const parts = [
    `${formatCounted(saved, 'fetch', 'fetches')} saved by ${formatCounted(rules.length, 'rule')}`,
    `${formatCounted(checked, 'merged URL')} fetched to compare, ${formatCount(wrong)} of them different`,
    ...(requeued > 0 ? [`${formatCount(requeued)} returned to the queue`] : []),
  ]
  return [`learned: ${parts.join(' · ')}`, ...rules.slice(0, SHOWN_RULES).map((rule) => `learned: ${rule}`)]
}
