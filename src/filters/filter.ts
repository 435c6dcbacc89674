// What a filter is to the rest of the library: a plan (how large, how wrong) and, in one kernel instance, the
// batch operations. Verdicts are written by the kernel: 1 new, 0 seen.
import { invalidOption, option, SieveError, wording } from '../errors.ts'
import type { Kernel } from '../kernel.ts'
import type { FilterOptions } from '../options/filter-options.ts'
import type { SieveOption } from '../options/option.ts'

export type { FilterOptions, SizeRequest } from '../options/filter-options.ts'

/** How a filter is sized, and what that costs. */
export interface Plan {
  readonly filter: string
  /** Distinct URLs it is sized for; null: any number. */
  readonly expectedUrls: number | null
  /** The rate asked for, or the one that follows from the memory given, at `expectedUrls`; null where none is promised. */
  readonly promisedRate: number | null
  /** What the formulas say the rate will be at `expectedUrls`; null where they cannot. */
  readonly expectedRate: number | null
  /** Why it promises no rate, in one line. Absent: it promises one, or is given no number of URLs. */
  readonly noPromise?: string
  /** Memory of the filter; of one that grows, at `expectedUrls`. */
  readonly sizeBytes: number
  /** The papers' m; null where there is none. */
  readonly bits: number | null
  /** The papers' k; null where there is none. */
  readonly hashes: number | null
  /** At `expectedUrls`; null without them. */
  readonly bitsPerUrl: number | null
  /** The options that shape the filter, with defaults filled in: what its own file needs to make it. */
  readonly shape?: Readonly<Record<string, unknown>>
}

/** A plan with the shape of one kind of filter. */
export type Shaped<S> = Plan & { readonly shape: S }

/** What a filter can do besides add and has. */
export interface Capabilities {
  /** `delete(url)`. */
  readonly delete: boolean
  /** Takes any number of URLs without a capacity given before. */
  readonly grow: boolean
  /** `hasUnder(folder)`. */
  readonly under: boolean
}

/** What a filter says of itself at this moment. */
export interface Measure {
  readonly sizeBytes: number
  /** Share of its bits, or of its slots, in use. */
  readonly fill: number
  /** The chance that a URL never added is answered "seen" now; null where it depends on the URLs. */
  readonly rate: number | null
  /** Of a layered filter: each layer's share of set bits and what that says it holds. */
  readonly layers?: readonly LayerMeasure[]
  /** Further estimates of the rate, by name, where a paper's formula and ours differ. */
  readonly rates?: Readonly<Record<string, number>>
}

/** One layer of a layered filter at this moment. */
export interface LayerMeasure {
  readonly name: string
  /** Share of its bits that are set. */
  readonly fill: number
  /** Distinct entries, estimated from the fill. */
  readonly distinct: number
}

/** What one layer answers for its part of a key. */
export interface LayerVerdict {
  readonly name: string
  /** The part of the key that this layer remembers. */
  readonly of: string
  readonly verdict: 'new' | 'seen'
}

/** One of a filter's arrays as something to look at: a cell for each bit or slot. */
export interface CellArray {
  /** Its number among the pieces of a snapshot. */
  readonly array: number
  readonly name: string
  /** How many there are. */
  readonly cells: number
  /** A copy: bit i % 8 of byte i / 8 is set where cell i is in use. */
  readonly set: Uint8Array
  /** Cells that belong together: a block of bits, or a bucket of slots. */
  readonly block?: number
  readonly bucket?: number
  /** Hashes of a key, where the arrays of a filter differ in them. */
  readonly hashes?: number
}

/** A piece of a filter's memory, as it goes into a snapshot. */
export interface Piece {
  /** Which of the filter's arrays. */
  readonly array: number
  /** Where in that array, in the filter's own unit. */
  readonly offset: number
  readonly bytes: Uint8Array
  /** In place of bytes: so many of them that are all zero. */
  readonly zeros?: number
  /** The least format version of a file that has such a piece, where it is not the first. */
  readonly version?: number
}

/** How a filter is written down and read back. */
export interface Pieces {
  /**
   * Its memory, a piece at a time. A piece is a view: copy it before anything else is asked of the filter. Adds and
   * deletes may go on between two pieces: what they change may then be in the snapshot or not, and the log, which began
   * before the first piece, says it again.
   */
  pieces(): Generator<Piece>
  /** Room in the kernel for a piece: to be filled, then given to `placed`. Throws a RangeError when there can be no such piece. */
  place(array: number, offset: number, bytes: number): Uint8Array
  /** Takes a piece that was filled. Throws a RangeError when its content cannot be: then it does not count. */
  placed?(array: number, offset: number, room: Uint8Array): void
  /** A piece that is all zero is in place. Absent: this filter has none. */
  placeZeros?(array: number, offset: number, bytes: number): void
  /** Counts that are not in the memory itself. */
  counts?(): number[]
  /**
   * All pieces are in place. Throws a RangeError when they do not fit together, or when some are missing; without
   * `isWhole`, what is missing is empty.
   */
  restored(counts: readonly number[], isWhole?: boolean): void
  /**
   * Takes in all of another filter of the same shape and hash: afterwards it answers for both. Returns how many URLs were
   * new to it, or null where only `distinct` tells. One that refuses URLs when full may have taken in a part when it throws.
   */
  unite?(other: Pieces): number | null
  /** How many URLs its bits were set for, estimated from how many are set. Of a filter of bits. */
  distinct?(): number
  /** The hashes it remembers, where it remembers them: some at a time, good until the next are asked for. */
  hashes?(): Generator<BigUint64Array>
  /** The keys it remembers, where it remembers those. */
  keys?(): Generator<Uint8Array>
}

/** A filter in one kernel instance that only answers. */
export interface FrozenFilter extends Pieces {
  /** Queries the batch's entries [from, n). */
  has(from: number, n: number): void
  /** What each layer answers for the batch's first key, the one with the last word last. Marks nothing; errs as `has` does. */
  layers?(): LayerVerdict[]
  /** Its arrays as they are now, to look at. */
  cells?(): CellArray[]
  /** Of a filter of slots: the one that makes a hash "seen", or null. */
  find?(hash: bigint): { readonly array: number; readonly cell: number } | null
  measure(): Measure
  /** Of a row of filters: how many URLs those that are not forgotten took. */
  remembered?(): number
}

/** A filter in one kernel instance. */
export interface Filter extends FrozenFilter {
  /** Test-and-set of the batch's entries [from, n); returns how many are done: fewer than n when it is full. */
  add(from: number, n: number): number
  delete?(n: number): void
  /** While a log is replayed: the time of its next record, every entry of which was new then; null: it is over. */
  setClock?(now: number | null): void
  /** Asks whether anything was added under the folders that are the batch's keys. */
  hasUnder?(n: number): void
  /**
   * Lets go of memory for hashes behind those of its share, of which it has none: a table begins with the range of all
   * hashes. True when there was some.
   */
  trim?(share: Share): boolean
  /**
   * Begins to move the upper half of its hashes, which are those of `share`, to a filter made in `other`, an instance of its
   * own. Returns that filter, the first 32 bits from which on hashes are there now, and those from which on they shall be;
   * null when it cannot be divided. Little is moved at a time: all of it would keep everyone waiting.
   */
  divide?(other: Kernel, share: Share): { filter: Filter; from: number; until: number } | null
  /** Goes on with that. Null: there is no room in `other`, or nothing left to move. */
  divideOn?(other: Kernel, until: number): { from: number } | null
  /** Of a filter with instances of its own: goes on with a division that is under way. False: there is none. */
  moveSome?(): boolean
  /** Of a filter with instances of its own: how often one of them was divided. */
  readonly divisions?: number
}

/** Either of them: whether it can add is known at run time. */
export type AnyFilter = FrozenFilter & Partial<Filter>

/** For a filter with instances of its own. */
export interface OwnInstances {
  /** The most memory that one may take. */
  readonly bytes: number
  /** The hashes are good enough to spread over several. */
  readonly spreads: boolean
}

/**
 * How far its answers can be trusted within its capacity. `practically exact`: at 64 bits of hash, wrong less than once in
 * a crawl of ten billion URLs.
 */
export type Exactness = 'exact' | 'practically exact' | 'approximate'

/** What a filter holds now: the part of its measures that its growth follows from. */
export type Held = Pick<Measure, 'sizeBytes' | 'layers'>

/** How the memory of a filter changes with the URLs it takes. Upper estimates, for whoever has to keep within a limit. */
export interface Growth<P extends Plan = Plan> {
  /** All the memory it takes now: `sizeBytes`, and what its instances hold besides. */
  heldBytes(held: Held): number
  /** The most by which `urls` more may make it grow. */
  growthBytes(plan: P, held: Held, urls: number): number
  /** What it takes besides the plan's `sizeBytes` once it is fully grown. */
  overheadBytes?(plan: P): number
}

/** What every kind of filter states about itself, and how it is planned; `P` is its plan, with its own shape. */
export interface KindDescription<P extends Plan = Plan> {
  readonly name: string
  /** What it is, in one line. */
  readonly does: string
  /** The paper or system it comes from. */
  readonly source: string
  /** Which way it errs, in one line. */
  readonly errs: string
  readonly exactness: Exactness
  /** Why it can promise no rate whatever its size, in one line. */
  readonly noPromise?: string
  /** Of a fixed size: past its capacity an add fails. Others of a fixed size go on, with a higher rate. */
  readonly refusesWhenFull?: boolean
  /** Drops the oldest URLs by design: they are new again. */
  readonly forgets?: boolean
  /** The options it takes besides those of every sieve. */
  readonly options: readonly SieveOption[]
  readonly can: Capabilities
  /**
   * What it works on: the batch's 64-bit hashes; those of a wide function, else the keys; or the keys always.
   * On keys it lives in one instance.
   */
  readonly takes: 'hashes' | 'wide-hashes' | 'keys'
  /** Its memory is in instances that it makes itself, as many as it needs; the one it is made in has the batch only. */
  readonly hasOwnInstances?: boolean
  /** Bytes of a table's directory besides its pieces, by the number of a piece's array. Absent: it has none. */
  directoryBytes?(array: number): number
  /** Absent: its size is fixed from the start. */
  readonly growth?: Growth<P>
  /** A paper's structure as published, for comparison: for use there are others. */
  readonly isResearch?: boolean
  /** Past this many URLs it is too slow for anything but history. */
  readonly comfortableUrls?: number
  plan(request: FilterOptions): P
  /** What the formula says of a filter of this plan once it holds `urls`; where absent, planning for `urls` tells it. */
  rateAt?(plan: P, urls: number): number
  /**
   * Bytes of all the arrays that a plan from a file asks for; 0 where the pieces say it. Throws a RangeError for a
   * plan that no filter of this kind has.
   */
  arrayBytes(plan: Plan, shards: number): number
}

/** A kind of filter that takes URLs. */
export interface FilterKind<P extends Plan = Plan> extends KindDescription<P> {
  /** Creates the share `1 / shares` of the planned filter in an instance. */
  create(kernel: Kernel, plan: P, shares: number, own?: OwnInstances): Filter
  /** The same, to be filled from a snapshot; `create` where it makes no difference. */
  revive?(kernel: Kernel, plan: P, share: Share, own?: OwnInstances): Filter
}

/** A kind of filter that is built from another one in one step and only queried from then on: nothing creates an empty one. */
export interface FrozenKind<P extends Plan = Plan> extends KindDescription<P> {
  /** An instance of it, to be filled from a snapshot or by its builder. */
  revive(kernel: Kernel, plan: P): FrozenFilter
}

export type AnyKind = FilterKind | FrozenKind

/** The hashes that belong to one instance: their first 32 bits are in [from, to). */
export interface Share {
  readonly from: number
  readonly to: number
}

/** All hashes. */
export const WHOLE: Share = { from: 0, to: 2 ** 32 }

export function checkNumber(
  name: string,
  value: unknown,
  ok: (n: number) => boolean,
  expected: string,
): void {
  if (value === undefined) return
  if (typeof value !== 'number' || Number.isNaN(value) || !ok(value)) {
    throw invalidOption(name, value, expected)
  }
}

/** Throws unless the value is a whole number within bounds, or absent. */
export function checkWhole(name: string, value: number | undefined, least: number, most: number): void {
  const ok = (n: number) => Number.isSafeInteger(n) && n >= least && n <= most
  checkNumber(name, value, ok, `a whole number from ${least} to ${most}`)
}

/** The error of every filter of a fixed size whose size does not follow from its options. */
export function sizeMissing(filter: string): SieveError {
  return new SieveError(
    'option',
    wording`filter '${filter}' has a fixed size: give ${option('expectedUrls')} with ${option('falsePositiveRate')} or ${option('sizeBytes')}, or ${option('bits')} with ${option('hashes')}`,
    {
      option: 'expectedUrls',
      expected: 'expectedUrls with falsePositiveRate or sizeBytes, or bits with hashes',
    },
  )
}

export function frozenFilter(filter: string): SieveError {
  return new SieveError(
    'option',
    `filter '${filter}' is frozen: it takes no URLs and forgets none; it is made from a fingerprint sieve by freeze() or 'urlsieve freeze'`,
  )
}

export function noRoom(filter: string, bytes: number): SieveError {
  return new SieveError(
    'memory',
    `no memory for filter '${filter}': it needs ${bytes} bytes; use a smaller size`,
  )
}
