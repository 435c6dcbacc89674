// Counts of one sieve since the server started: RESP and HTTP update them; /metrics and the page show them.

export interface Meters {
  adds: number
  /** Adds answered "new". */
  fresh: number
  /** Adds answered "seen". */
  seen: number
  /** URLs queried without adding. */
  asks: number
}

export const newMeters = (): Meters => ({ adds: 0, fresh: 0, seen: 0, asks: 0 })

/** Counts the verdicts of an add: 1 new, 0 seen. */
export function countAdds(meters: Meters, verdicts: Uint8Array): void {
  let fresh = 0
  for (let i = 0; i < verdicts.length; i++) fresh += verdicts[i]!
  meters.adds += verdicts.length
  meters.fresh += fresh
  meters.seen += verdicts.length - fresh
}
