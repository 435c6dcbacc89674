// What a full run must show. Each bound is a ratio within one run, or a size; a bound whose cases were not
// measured has no verdict.

const fullLines = 10_000_000

/** Every bound with its value (undefined when not measured) and whether it holds. */
export function judge(run, summary) {
  return bounds.map(({ text, limit, atMost = false, fullOnly = false, value }) => {
    const measured = fullOnly && run.lines !== fullLines ? undefined : value(summary)
    const holds = measured === undefined ? undefined : atMost ? measured <= limit : measured >= limit
    return { text, limit, atMost, value: measured, holds }
  })
}

/** The bounds are set for runs of this many lines and more; shorter ones mostly measure start-up. */
export function isFull(run) {
  return run.lines >= fullLines
}

const bounds = [
  faster('command/repeats/urlsieve-raw', 'command/repeats/mawk', 15),
  faster('command/repeats/urlsieve-raw', 'command/repeats/gawk', 8),
  faster('command/repeats/urlsieve-raw', 'command/repeats/set-readline', 14),
  faster('command/repeats/urlsieve-raw', 'command/repeats/huniq', 2),
  faster('command/repeats/urlsieve-web', 'command/repeats/urlsieve-raw', 0.6),
  {
    text: 'command/distinct/urlsieve-raw peak RSS in MB, 10,000,000 lines',
    limit: 260,
    atMost: true,
    fullOnly: true,
    value: (summary) => megabytes(summary.get('command/distinct/urlsieve-raw')?.peakRssBytes),
  },
  faster('library/urlsieve-fingerprint-raw/add', 'library/bloomfilter-1e-3/add', 1.5),
  faster('library/urlsieve-fingerprint-raw/add', 'library/set/add', 3),
  faster('library/urlsieve-fingerprint-raw/add', 'library/bloom-filters-1e-3/add', 50),
  faster('library/urlsieve-fingerprint-raw/addMany', 'library/bloomfilter-1e-3/add', 2),
  faster('library/urlsieve-fingerprint-raw/addLines', 'library/bloomfilter-1e-3/add', 4),
]

function faster(ours, theirs, limit) {
  return {
    text: `${ours} × ${theirs}`,
    limit,
    value: (summary) => ratio(summary.get(ours), summary.get(theirs)),
  }
}

/** How many times faster `ours` is, by the medians of time per line or operation. */
export function ratio(ours, theirs) {
  return ours && theirs ? theirs.ns.median / ours.ns.median : undefined
}

function megabytes(bytes) {
  return bytes ? bytes / 1e6 : undefined
}
