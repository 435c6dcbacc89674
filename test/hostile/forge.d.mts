export interface Chunk {
  tag: string
  shard: number
  array: number
  offset: bigint
  size: bigint
  payload: Buffer
}
export interface Parts {
  version: number
  // biome-ignore lint/suspicious/noExplicitAny: a forger writes what he likes
  header: any
  chunks: Chunk[]
  // biome-ignore lint/suspicious/noExplicitAny: a forger writes what he likes
  end: any
}
export function takeApart(file: Buffer): Parts
export function putTogether(parts: {
  version: number
  headerText: string
  chunks: readonly Chunk[]
  endText: string
}): Buffer
/** The records of a log. */
export function recordsOf(log: Buffer): { op: number; entries: number; payload: Buffer }[]
