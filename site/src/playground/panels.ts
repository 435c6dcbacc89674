// The memory of a sieve as something to look at: its bit arrays, read the way a snapshot reads them.
import type { Sieve } from '../../../src/index.ts'
import { STATE } from '../../../src/state.ts'

/** One array of bits, or of slots: one bit for each that is in use. */
export interface Panel {
  /** The array's number among the pieces of a snapshot. */
  readonly array: number
  readonly name: string
  /** How many there are to draw. */
  readonly cells: number
  /** A copy, bit i in byte i / 8. */
  readonly set: Uint8Array
  /** Generations: the hashes of a URL, which differ from one to the next. */
  readonly hashes?: number
  /** Cells that belong together: blocks, drawn as tiles, or buckets, which no row divides. */
  readonly block?: number
  readonly bucket?: number
  /** Which of them to draw softly. */
  readonly soft?: Uint8Array
}

/** Numbers of src/filters: the XOR layer's array, and how generations number theirs. */
const XOR_ARRAY = 64
const GENERATION_ARRAYS = 256
const PLAN_ARRAY = 255
const BLOCK_BITS = 512
/** A segment of fingerprints: a header, then slots of eight bytes. */
const SEGMENT_HEADER_BYTES = 64
const BUCKET_SLOTS = 8

export const isSet = (set: Uint8Array, cell: number): boolean => ((set[cell >> 3]! >> (cell & 7)) & 1) === 1

/** Each array of the filter, whole. */
function arraysOf(sieve: Sieve): Map<number, Uint8Array> {
  const arrays = new Map<number, Uint8Array>()
  for (const { array, offset, bytes } of sieve[STATE].shards.all[0]!.filter.pieces()) {
    const before = arrays.get(array) ?? new Uint8Array(0)
    const whole = new Uint8Array(Math.max(before.length, offset + bytes.length))
    whole.set(before)
    whole.set(bytes, offset)
    arrays.set(array, whole)
  }
  return arrays
}

function generations(arrays: Map<number, Uint8Array>): Panel[] {
  const panels: Panel[] = []
  for (const [array, set] of arrays) {
    if (array % GENERATION_ARRAYS === PLAN_ARRAY) continue
    const index = Math.floor(array / GENERATION_ARRAYS)
    const plan = new DataView(arrays.get(index * GENERATION_ARRAYS + PLAN_ARRAY)!.buffer)
    const cells = Number(plan.getBigUint64(0, true))
    panels.push({ array, name: `generation ${index + 1}`, cells, set, hashes: plan.getUint32(8, true) })
  }
  return panels
}

/** The segments of the fingerprint table, one after the other, as 64-bit hashes; 0 where a slot is free. */
export function slotsOf(sieve: Sieve): BigUint64Array[] {
  const segments: BigUint64Array[] = []
  for (const { bytes } of sieve[STATE].shards.all[0]!.filter.pieces()) {
    segments.push(new BigUint64Array(bytes.slice(SEGMENT_HEADER_BYTES).buffer))
  }
  return segments
}

function slotPanels(sieve: Sieve): Panel[] {
  const segments = slotsOf(sieve)
  return segments.map((slots, array) => {
    const set = new Uint8Array(Math.ceil(slots.length / 8))
    slots.forEach((hash, slot) => {
      if (hash !== 0n) set[slot >> 3]! |= 1 << (slot & 7)
    })
    const name = segments.length === 1 ? 'slots' : `segment ${array + 1}`
    return { array, name, cells: slots.length, set, bucket: BUCKET_SLOTS }
  })
}

/** What there is to see of a sieve now. */
export function panelsOf(sieve: Sieve): Panel[] {
  const { filter, bits, shape } = sieve.plan
  if (filter === 'fingerprint') return slotPanels(sieve)
  const arrays = arraysOf(sieve)
  if (filter === 'scalable') return generations(arrays)
  const cellsOf = (array: number): number => {
    if (filter === 'eigenvalue') return (array === 0 ? shape!.urlBits : shape!.featureBits) as number
    return (shape?.bitsPerLayer as number | undefined) ?? bits!
  }
  const nameOf = (array: number): string => {
    if (filter === 'eigenvalue') return array === 0 ? 'region of URLs' : 'region of features'
    if (filter === 'multilayer' || filter === 'keyword-layers')
      return array === XOR_ARRAY ? 'XOR layer' : `layer ${array + 1}`
    return filter === 'prefix-layers' ? 'all layers' : 'bits'
  }
  const blocks = filter === 'blocked' ? { block: BLOCK_BITS } : {}
  return [...arrays].map(([array, set]) => ({
    array,
    name: nameOf(array),
    cells: cellsOf(array),
    set,
    ...blocks,
  }))
}

/** How many cells of a panel are in use. */
export function countSet({ set, cells }: Panel): number {
  let ones = 0
  for (let cell = 0; cell < cells; cell++) ones += (set[cell >> 3]! >> (cell & 7)) & 1
  return ones
}
