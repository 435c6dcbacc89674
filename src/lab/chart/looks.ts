// The look of a series, the same wherever it is drawn: series differ by colour, marker and dash; a series printed in a
// paper is hollow.
import type { SymbolType } from '@observablehq/plot'
import type { Series } from '../experiment.ts'

const SYMBOLS = ['circle', 'square2', 'triangle', 'diamond', 'star', 'wye', 'cross', 'hexagon'] as const
const DASHES = ['none', '7 3', '2 3', '9 3 2 3', '12 4', '4 2', '1 2', '6 2 1 2 1 2'] as const
const COLOURS = SYMBOLS.length

export interface Look {
  readonly colour: string
  readonly symbol: SymbolType
  readonly dash: string
  readonly hollow: boolean
}

/** A printed series looks like the measured one that shares its name up to the comma: `classic, printed`. */
export function looks(series: readonly Series[]): Look[] {
  const own = new Map<string, number>()
  for (const { name, printed } of series) if (!printed) own.set(name, own.size)
  let next = own.size
  return series.map(({ name, printed = false }) => {
    const like = [...own.keys()].find((other) => printed && stem(other) === stem(name))
    const i = own.get(printed ? (like ?? '') : name) ?? next++
    return {
      colour: `var(--series-${(i % COLOURS) + 1})`,
      // From the ninth series on colours repeat, with other markers and dashes.
      symbol: SYMBOLS[(i + 3 * Math.floor(i / COLOURS)) % COLOURS]!,
      dash: printed ? '1 4' : DASHES[(i + Math.floor(i / COLOURS)) % COLOURS]!,
      hollow: printed,
    }
  })
}

function stem(name: string): string {
  return name
    .toLowerCase()
    .replace(/[,(:].*| (?:in the paper|printed).*/s, '')
    .trim()
}

export function fillStyle({ colour, hollow }: Look) {
  return hollow
    ? { fill: 'var(--paper)', stroke: colour, strokeWidth: 1.5, strokeDasharray: '3 2' }
    : { fill: colour, stroke: colour, strokeWidth: 1 }
}

export function dotStyle({ colour, symbol, hollow }: Look) {
  // A hollow marker is larger, to show the measured one inside.
  return { symbol, r: hollow ? 5.5 : 4, stroke: colour, strokeWidth: 1.6, fill: hollow ? 'none' : colour }
}
