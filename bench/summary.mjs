// From samples to one entry per case: median and spread of the time, the worst of every count of errors.

/** Entries under `command/STREAM/SUBJECT`, `threads/…` the same, and `library/SUBJECT/OPERATION`, in the order measured. */
export function summarise(samples) {
  const groups = new Map()
  for (const sample of samples) {
    const key = keyOf(sample)
    const group = groups.get(key)
    if (group) group.push(sample)
    else groups.set(key, [sample])
  }
  return new Map([...groups].map(([key, group]) => [key, entryOf(group)]))
}

function keyOf({ group, stream, subject, operation }) {
  return group === 'library' ? `library/${subject}/${operation}` : `${group}/${stream}/${subject}`
}

function entryOf(group) {
  const largest = (field) => {
    const values = group.map((sample) => sample[field]).filter((value) => typeof value === 'number')
    return values.length > 0 ? values.reduce((a, b) => Math.max(a, b)) : undefined
  }
  return {
    ...group[0],
    ns: spread(group.map(nsOf)),
    cpuNs: typeof group[0].cpuMs === 'number' ? spread(group.map(cpuNsOf)) : undefined,
    peakRssBytes: largest('peakRssBytes'),
    bitsPerUrl: largest('bitsPerUrl'),
    wrongDrops: largest('wrongDrops'),
    falsePositives: largest('falsePositives'),
    falseNegatives: largest('falseNegatives'),
    exactOutput: group[0].exactOutput === null ? null : group.every(({ exactOutput }) => exactOutput),
  }
}

/** Nanoseconds per line, or per operation. */
function nsOf({ group, wallMs, lines, elapsedMs, ops }) {
  return group === 'library' ? (elapsedMs * 1e6) / ops : (wallMs * 1e6) / lines
}

function cpuNsOf({ cpuMs, lines, ops }) {
  return (cpuMs * 1e6) / (lines ?? ops)
}

/** Median and extremes. */
export function spread(values) {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  const median = sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
  return { median, min: sorted[0], max: sorted.at(-1) }
}
