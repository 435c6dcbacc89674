// The claims of cen-2010 with the verdicts on them.
import { memoryVerdict, verdict } from '../../claims.ts'
import type { Claim } from '../../experiment.ts'
import { count, factor, percent } from '../../wording.ts'
import { type SerialTime, serialRatios } from './byte-serial.ts'
import type { Answer, LeftOut } from './measurement.ts'
import { KEYS, PAPER, printedCount } from './paper.ts'
import { pairs } from './tables.ts'

/** Times within this of each other are "almost the same"; the paper's own insertion times differ by 27 %. */
const ALMOST = 0.3
/** A count within this of the printed one is reproduced. */
const NEAR = 0.05

/** Times of multilayer over those of classic, of ours, at the largest n. */
export function ourRatios(answers: readonly Answer[]): { insertion: number; query: number } {
  const { classic, multilayer } = pairs(answers).at(-1)!
  return {
    insertion: multilayer.addSeconds / classic.addSeconds,
    query: multilayer.querySeconds / classic.querySeconds,
  }
}

export function claims(
  answers: readonly Answer[],
  left: readonly LeftOut[],
  times: readonly SerialTime[],
  scale: number,
): Claim[] {
  const both = pairs(answers)
  const { classic, multilayer } = both.at(-1)!
  const n = classic.urls
  const sameMemory = answers.find(
    ({ contender, urls }) => contender.filter === 'classic' && contender.share === 5 && urls === n,
  )!
  const widest = Math.max(
    ...both.map(({ classic: one }) => Math.abs(one.mean! / printedCount('classic', one.urls, scale) - 1)),
  )
  const printed = printedCount('multilayer', n, scale)
  const paperRate = multilayer.stats.rates!.paper! * multilayer.queries
  const serial = serialRatios(times)
  const ours = ourRatios(answers)
  const rises = both.every(
    ({ classic: one }, i) => i === 0 || one.falsePositives > both[i - 1]!.classic.falsePositives,
  )
  const recombined = left.find(
    ({ contender, kind }) => contender.filter === 'multilayer' && kind.name === 'recombined',
  )
  const swapped = left.find(
    ({ contender, kind }) => contender.filter === 'multilayer' && kind.name === 'swapped',
  )
  const share = ({ falsePositives, kind }: LeftOut) => falsePositives / Math.max(1, kind.count)
  return [
    {
      source: 'cen-2010, Fig. 5',
      claim: 'MLBF has far fewer false positives than BF',
      verdict: memoryVerdict(
        multilayer.falsePositives < classic.falsePositives / 2,
        multilayer.falsePositives < sameMemory.falsePositives,
      ),
      number: `${count(multilayer.falsePositives)} against ${count(classic.falsePositives)}; BF with its memory ${count(sameMemory.falsePositives)}`,
    },
    {
      source: 'cen-2010, Fig. 5',
      claim: `BF makes ${count(PAPER.falsePositives.classic.at(-1)!)} false positives at 3.5 M URLs, and the counts before it`,
      verdict: widest < NEAR ? 'confirmed' : 'not reproduced',
      number: `the mean of ${KEYS} keys is within ${percent(widest)} at every n`,
    },
    {
      source: 'cen-2010, Fig. 5',
      claim: `MLBF makes ${count(PAPER.falsePositives.multilayer.at(-1)!)} at 3.5 M`,
      verdict: verdict(
        [Math.abs(multilayer.falsePositives / printed - 1) < NEAR, 'confirmed'],
        [true, 'not reproduced'],
      ),
      number: `${count(multilayer.falsePositives)} on these URLs, ${factor(multilayer.falsePositives / printed)} times: it depends on how many distinct segments each layer holds`,
    },
    {
      source: 'cen-2010, (4)',
      claim: 'the rate of MLBF is f^L',
      verdict: multilayer.falsePositives > 2 * paperRate ? 'wrong' : 'confirmed',
      number: `${factor(multilayer.falsePositives / paperRate)} times as many as f^L predicts`,
    },
    {
      source: 'cen-2010, (1)',
      claim: 'the rate of BF is (1 − e^(−kn/m))^k, and rises with n',
      verdict: rises && widest < NEAR ? 'confirmed' : 'not reproduced',
      number: `fill ${percent(classic.stats.fill)} at ${count(n)} URLs`,
    },
    {
      source: 'cen-2010, IV.B',
      claim: 'the XOR layer solves the false positives of recombined segments',
      verdict: verdict(
        [
          recombined !== undefined &&
            share(recombined) > (2 * multilayer.falsePositives) / multilayer.queries,
          'wrong',
        ],
        [true, 'confirmed'],
      ),
      number: `${recombined ? percent(share(recombined)) : 'none'} of recombined URLs are reported as seen, ${swapped ? percent(share(swapped)) : 'none'} of swapped ones`,
    },
    {
      source: 'cen-2010, Fig. 6',
      claim: 'insertion into MLBF does not take much longer (printed 1.27 times)',
      verdict: serial.insertion < 1 + ALMOST ? 'confirmed' : 'not reproduced',
      number: `${factor(serial.insertion)} times with its byte-serial hashing; ${factor(ours.insertion)} in ours`,
    },
    {
      source: 'cen-2010, Fig. 7 and abstract',
      claim: 'queries are almost as fast (printed within 3 %)',
      verdict: serial.query < 1 + ALMOST ? 'confirmed' : 'not reproduced',
      number: `${factor(serial.query)} times with its byte-serial hashing and order of layers; ${factor(ours.query)} in ours`,
    },
  ]
}
