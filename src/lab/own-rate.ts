// What a filter says of its rate: of one that can promise none, its estimate without the keys that it takes for others for
// certain.
import type { Stats } from '../any-sieve.ts'

export const ownRate = ({ expectedRate, rates }: Stats): number =>
  expectedRate ?? rates?.pieces ?? rates?.corrected ?? 0
