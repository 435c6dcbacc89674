// The values that describe the load of a server, by name; the page has them too.

/** Rates are per second, percentiles are in seconds; null when nothing was measured. */
export const loadNames = [
  'respPerSecond',
  'httpPerSecond',
  'respErrorsPerSecond',
  'httpErrorsPerSecond',
  'refusedPerSecond',
  'respP50',
  'respP99',
  'httpP50',
  'httpP99',
] as const

export type Load = Readonly<Record<(typeof loadNames)[number], number | null>>
