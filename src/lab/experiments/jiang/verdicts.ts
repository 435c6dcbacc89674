// The finding and the verdicts on the claims of jiang-eigenvalue.
import { classicFill } from '../../../sizing/classic.ts'
import { eigenvalueHashes } from '../../../sizing/eigenvalue.ts'
import { memoryVerdict } from '../../claims.ts'
import type { Claim } from '../../experiment.ts'
import { covers, isAbove, type MeasuredRate, pooled } from '../../trial.ts'
import { count, factor, listed, percent } from '../../wording.ts'
import {
  classicM,
  classicMore,
  HASHES,
  PAPER_BITS,
  paperExtended,
  type Row,
  rivals,
  STRONG,
  type Structure,
  WEAK,
} from './measurement.ts'
import type { Growing } from './more-hashes.ts'

const shown = ({ rate, low, high }: MeasuredRate) => `${percent(rate)} (${percent(low)} to ${percent(high)})`

export function finding(
  depthRows: readonly Row[],
  featureRows: readonly Row[],
  growing: readonly Growing[],
  printed: string,
): string {
  const rates = (rows: readonly Row[]) => rows.map(({ rate }) => rate)
  const of = (structure: Structure, keep: (row: Row) => boolean) =>
    pooled(rates(depthRows.filter((row) => row.structure === structure && keep(row))))
  const similar = of(classicM, ({ source, hash }) => source.similar && hash === WEAK)
  const unlike = of(classicM, ({ source, hash }) => !source.similar && hash === WEAK)
  const strong = of(classicM, ({ source, hash }) => source.similar && hash === STRONG)
  const depths = [...new Set(depthRows.map(({ depth }) => depth))]
  const at = (depth: number) =>
    of(classicM, (row) => row.source.similar && row.hash === WEAK && row.depth === depth)
  const [shallow, deep] = [at(Math.min(...depths)), at(Math.max(...depths))]
  const rises = isAbove(similar, unlike)
  const worst = depthRows
    .filter(({ structure, source }) => structure === classicM && source.similar)
    .filter(({ rate, expected }) => !covers(rate, expected))
    .map(({ source, hash, depth, rate, expected }) => ({
      text: `${source.name} with ${hash} at ${count(depth)} (${factor(rate.rate / expected)} times the formula)`,
      distance: Math.abs(Math.log((rate.rate || rate.high) / expected)),
    }))
    .sort((a, b) => b.distance - a.distance)
  const one = (row: Row) => row.source.similar && row.hash === WEAK
  const paper = of(paperExtended, one)
  const rival = of(classicMore, one)
  const better = isAbove(rival, paper)
  const features = featureRows.filter((row) => row.structure.features)
  const rivalOf = (row: Row) =>
    featureRows.find(
      (other) =>
        rivals.includes(other.structure) &&
        other.structure.memory === row.structure.memory &&
        other.source === row.source &&
        other.hash === row.hash &&
        other.bitsPerUrl === row.bitsPerUrl,
    )!
  const below = features.filter((row) => isAbove(rivalOf(row).rate, row.rate))
  const above = features.filter((row) => isAbove(row.rate, rivalOf(row).rate))
  const depthWord = isAbove(deep, shallow) ? 'rises' : isAbove(shallow, deep) ? 'falls' : 'does not change'
  return [
    `With ${WEAK} the false-positive rate of a classic filter is ${shown(similar)} for the URLs of one site and ${shown(unlike)} for dissimilar ones, with ${STRONG} ${shown(strong)}: similar URLs ${rises ? 'raise' : 'do not raise'} the rate here, and with depth it ${depthWord} (${percent(shallow.rate)} at ${count(Math.min(...depths))}, ${percent(deep.rate)} at ${count(Math.max(...depths))}).`,
    worst.length === 0
      ? ''
      : ` Off the formula by more than chance: ${listed(worst.slice(0, 3).map(({ text }) => text))}${worst.length > 3 ? ` and ${worst.length - 3} more` : ''}.`,
    ` The extension with the paper's features has a rate of ${shown(paper)}, a classic filter with the same memory ${shown(rival)}: the extension is ${better ? 'better' : isAbove(paper, rival) ? `${factor(paper.rate / rival.rate)} times worse` : 'no better'}; of all ${features.length} comparisons by feature function at the same memory it wins ${below.length} and loses ${above.length}.`,
    hashesSentence(growing, printed),
  ].join('')
}

// Whether the printed code is the cause of what the paper saw.
function hashesSentence(growing: readonly Growing[], printed: string): string {
  const [good, bad] = [byHashes(growing, STRONG), byHashes(growing, printed)]
  const [best, first, last] = [lowest(good), bad[0]!, bad.at(-1)!]
  const helps = isAbove(first.rate, last.rate)
  return ` With ${STRONG} more hash functions help up to k = ${best.hashes} (${percent(best.rate.rate)}); with the printed code they ${helps ? 'help' : 'do not'}, from ${percent(first.rate.rate)} at k = ${first.hashes} to ${percent(last.rate.rate)} at k = ${last.hashes}: it would explain "more hashes stop helping", but a filter that reports ${percent(last.rate.rate)} of new URLs as seen has no curve that rises with depth.`
}

/** Within this of the formula a rate is what it predicts. */
const NEAR = 0.1

/** Of one hash: its rates at a fixed memory, by k ascending. */
function byHashes(growing: readonly Growing[], hash: string): Growing[] {
  return growing.filter((row) => row.hash === hash).sort((a, b) => a.hashes - b.hashes)
}

export function claims(depthRows: readonly Row[], growing: readonly Growing[], printed: string): Claim[] {
  const of = (structure: Structure, keep: (row: Row) => boolean) =>
    pooled(depthRows.filter((row) => row.structure === structure && keep(row)).map(({ rate }) => rate))
  const weak = ({ source, hash }: Row) => source.similar && hash === WEAK
  const [similar, unlike] = [
    of(classicM, weak),
    of(classicM, (row) => !row.source.similar && row.hash === WEAK),
  ]
  const depths = depthRows.map(({ depth }) => depth)
  const [least, most] = [Math.min(...depths), Math.max(...depths)]
  const shallow = of(classicM, (row) => weak(row) && row.depth === least)
  const deep = of(classicM, (row) => weak(row) && row.depth === most)
  const [paper, rival] = [of(paperExtended, weak), of(classicMore, weak)]
  const expected = depthRows.find((row) => row.structure === classicM && weak(row))!.expected
  const good = byHashes(growing, STRONG)
  const [first, best] = [good.find(({ hashes }) => hashes === HASHES)!, lowest(good)]
  const asPrinted = byHashes(growing, printed)
  const d = eigenvalueHashes({ hashes: HASHES })
  const zeros = (hashes: number) => 1 - classicFill({ bits: PAPER_BITS, hashes, urls: 1 })
  const printed6 = Math.exp(d * HASHES * Math.log(1 - zeros(HASHES)) * Math.log(1 - zeros(d)))
  return [
    {
      source: 'jiang-eigenvalue, Fig. 5',
      claim: 'the extension has a lower false-positive rate than the classic filter',
      verdict: memoryVerdict(isAbove(similar, paper), isAbove(rival, paper)),
      number: `${percent(paper.rate)} against ${percent(similar.rate)}; a classic filter with its memory ${percent(rival.rate)}`,
    },
    {
      source: 'jiang-eigenvalue, 3',
      claim: 'false positives are mostly caused by similar URLs',
      verdict: isAbove(similar, unlike) ? 'confirmed' : 'not reproduced',
      number: `${percent(similar.rate)} for URLs of one site, ${percent(unlike.rate)} for dissimilar ones`,
    },
    {
      source: 'jiang-eigenvalue, Fig. 5',
      claim: 'the rate rises with the crawl depth at a fixed m/n',
      verdict: isAbove(deep, shallow) ? 'confirmed' : 'not reproduced',
      number: `${percent(shallow.rate)} at ${count(least)} URLs, ${percent(deep.rate)} at ${count(most)}`,
    },
    {
      source: 'jiang-eigenvalue, 3',
      claim: 'Jenkins’ function ignores small differences between URLs',
      verdict: covers(similar, expected) || similar.rate < (1 + NEAR) * expected ? 'wrong' : 'confirmed',
      number: `${factor(similar.rate / expected)} times the rate of a perfect hash on URLs of one site`,
    },
    {
      source: 'jiang-eigenvalue, 2.3 and 4',
      claim: 'more hash functions stop helping',
      verdict: best.hashes > HASHES && isAbove(first.rate, best.rate) ? 'wrong' : 'confirmed',
      number: `with ${STRONG} ${percent(first.rate.rate)} at k = ${HASHES} and ${percent(best.rate.rate)} at k = ${best.hashes}, m/n = ${best.bitsPerUrl}`,
    },
    {
      source: 'jiang-eigenvalue, 3',
      claim: 'the printed code (hash += key) is Jenkins’ function of the URL',
      verdict: lowest(asPrinted).rate.rate > 2 * first.rate.rate ? 'wrong' : 'confirmed',
      number: `it depends on the length alone: ${percent(lowest(asPrinted).rate.rate)} false positives at best, whatever k`,
    },
    {
      source: 'jiang-eigenvalue, (1)',
      claim: 'the share of zeros is 1 − e^(−kn/m)',
      verdict: zeros(HASHES) > 0.5 ? 'wrong' : 'confirmed',
      number: `${percent(zeros(HASHES))} are zeros at m/n = ${PAPER_BITS}, k = ${HASHES}; printed ${percent(1 - zeros(HASHES))}`,
    },
    {
      source: 'jiang-eigenvalue, (6)',
      claim: 'the rate is e^(dk · ln(1 − e^(−kn/m)) · ln(1 − e^(−dn/m)))',
      verdict: printed6 > 1 ? 'wrong' : 'confirmed',
      number: `${printed6.toExponential(0)} at m/n = ${PAPER_BITS}, k = ${HASHES}, d = ${d}: more than 1`,
    },
  ]
}

function lowest(rows: readonly Growing[]): Growing {
  return rows.reduce((a, b) => (b.rate.rate < a.rate.rate ? b : a))
}
