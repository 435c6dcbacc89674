// The memory of a sieve as something to look at: its filter's arrays, a cell for each bit or slot.
import type { CellArray } from '../../../src/filters/filter.ts'
import type { Sieve } from '../../../src/index.ts'
import { STATE } from '../../../src/state.ts'

export interface Panel extends CellArray {
  /** Which of them to draw softly. */
  readonly soft?: Uint8Array
}

export const isSet = (set: Uint8Array, cell: number): boolean => ((set[cell >> 3]! >> (cell & 7)) & 1) === 1

/** What there is to see of a sieve now. */
export function panelsOf(sieve: Sieve): Panel[] {
  return sieve[STATE].shards.all[0]!.filter.cells?.() ?? []
}

/** How many cells of a panel are in use. */
export function countSet({ set, cells }: Panel): number {
  let ones = 0
  for (let cell = 0; cell < cells; cell++) ones += (set[cell >> 3]! >> (cell & 7)) & 1
  return ones
}
