// The library against other filters and Set: each filter and pass in a fresh process (see pass.mjs).

import { fileURLToPath } from 'node:url'
import { measure } from '../measure.mjs'
import { filters as bloomFilters } from '../rivals/bloom-filters.mjs'
import { filters as bloomfilter } from '../rivals/bloomfilter.mjs'
import { filters as set } from '../rivals/set.mjs'
import { filters as urlsieve } from '../rivals/urlsieve.mjs'

const passFile = fileURLToPath(new URL('pass.mjs', import.meta.url))
const rivals = { urlsieve, bloomfilter, 'bloom-filters': bloomFilters, set }

/** The cases in one group; their order is alternated from round to round. */
export function libraryGroups({ lines, seed }) {
  const cases = Object.entries(rivals).flatMap(([rival, filters]) =>
    filters.flatMap(({ name, passes, urlLimit = lines, required, missing, version }) =>
      passes.map((pass) => {
        const request = { rival, name, pass, seed, urls: Math.min(lines, urlLimit) }
        const run = (_, signal) => runPass(request, { extrapolated: urlLimit < lines, signal })
        return { id: `library/${name}/${pass}`, required, missing, version, run }
      }),
    ),
  )
  return [{ cases, prepare: () => undefined, release: () => {} }]
}

async function runPass(request, { extrapolated, signal }) {
  const { stdout, peakRssBytes } = await measure({
    program: process.execPath,
    args: ['--max-old-space-size=16000', '--expose-gc', passFile, JSON.stringify(request)],
    signal,
  })
  const { name, pass, urls } = request
  return JSON.parse(stdout).map((operation) => ({
    group: 'library',
    subject: name,
    pass,
    urls,
    extrapolated,
    peakRssBytes,
    ...operation,
  }))
}
