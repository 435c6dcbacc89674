// What a full run must show. Each bound is a ratio within one run, or a size; a bound whose cases were not
// measured has no verdict, nor has a run of another size.

const fullLines = 10_000_000

/** Every bound with its value and whether it holds; undefined when not measured or not judged. */
export function judge(run, summary) {
  return bounds.map(({ text, limit, atMost = false, value }) => {
    const measured = value(summary)
    const judged = measured !== undefined && isFull(run)
    const holds = judged ? (atMost ? measured <= limit : measured >= limit) : undefined
    return { text, limit, atMost, value: measured, holds }
  })
}

/** The bounds are for this size: shorter runs mostly measure start-up, longer ones need more memory. */
export function isFull(run) {
  return run.lines === fullLines
}

const bounds = [
  faster('command/repeats/urlsieve-raw', 'command/repeats/mawk', 15),
  faster('command/repeats/urlsieve-raw', 'command/repeats/gawk', 8),
  faster('command/repeats/urlsieve-raw', 'command/repeats/set-readline', 14),
  faster('command/repeats/urlsieve-raw', 'command/repeats/huniq', 2),
  faster('command/repeats/urlsieve-web', 'command/repeats/urlsieve-raw', 0.6),
  faster('threads/repeats/urlsieve-raw-2', 'threads/repeats/urlsieve-raw-1', 1.6),
  faster('threads/repeats/urlsieve-web-2', 'threads/repeats/urlsieve-web-1', 1.6),
  faster('threads/distinct/urlsieve-raw-2', 'threads/distinct/urlsieve-raw-1', 1.6),
  faster('threads/distinct/urlsieve-web-2', 'threads/distinct/urlsieve-web-1', 1.6),
  faster('threads/repeats/urlsieve-raw-2', 'threads/repeats/native-c++', 1),
  faster('threads/repeats/urlsieve-raw-2', 'threads/repeats/native-xxh3', 1),
  faster('threads/distinct/urlsieve-raw-2', 'threads/distinct/native-c++', 1),
  faster('threads/distinct/urlsieve-raw-2', 'threads/distinct/native-xxh3', 1),
  {
    text: 'command/distinct/urlsieve-raw peak RSS in MB',
    limit: 260,
    atMost: true,
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
