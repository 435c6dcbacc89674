// One sieve: its charts, its numbers, and forms to add, query and forget URLs.
import { api, type SieveInfo } from '../api.ts'
import { confirm } from '../confirm.ts'
import { fact, fill, h, nameText } from '../dom.ts'
import { bytes, count, moment, number, plural, rate, share } from '../format.ts'
import { ShapeTable } from '../shape-table.ts'
import { SieveCharts } from '../sieve-charts.ts'
import { questionsFor } from '../sieve-forms.ts'
import { SpanChoice } from '../timeline.ts'
import { ErrorLine, heading, isMissing, notice, type View } from '../view.ts'

/** Interval at which the numbers below the charts are refreshed. */
const EVERY_MS = 2000

/** Labels of the further rate estimates. */
const RATES: Readonly<Record<string, string>> = {
  paper: 'by the paper’s formula',
  corrected: 'for a new page in a known folder',
  recombined: 'for known segments in a new combination',
  folder: 'for a folder',
  lookAlike: 'for a URL of a known feature',
  newFeature: 'for a URL of a new feature',
}

const KINDS: Readonly<Record<SieveInfo['kind'], string>> = {
  sieve: 'sieve of URLs',
  bloom: 'Bloom filter of BF.*: items are compared byte by byte',
  set: 'set of SADD: items are compared byte by byte',
}

const facts = (title: string, ...pairs: (HTMLElement | null)[]): HTMLElement =>
  h('section', {}, h('h2', {}, title), h('dl', { class: 'facts' }, ...pairs))

function rateFacts({ stats }: SieveInfo): HTMLElement {
  const { expectedRate, promisedRate, noPromise, pastCapacity, rates = {} } = stats
  return facts(
    'Error rate',
    fact('Expected rate now', rate(expectedRate)),
    fact(
      'Promised rate',
      promisedRate === null ? 'none' : rate(promisedRate),
      noPromise ? h('small', {}, noPromise) : null,
    ),
    fact(
      'Within its promise',
      pastCapacity ? h('strong', { class: 'over' }, 'no: it holds more URLs than it was created for') : 'yes',
    ),
    ...Object.entries(rates).map(([name, value]) => fact(`Rate ${RATES[name] ?? name}`, rate(value))),
  )
}

function sizeFacts({ stats, plan, bloom }: SieveInfo): HTMLElement {
  return facts(
    'Size',
    fact('Memory', bytes(stats.sizeBytes)),
    fact('Bits per URL', number(stats.bitsPerUrl)),
    fact('Fill', share(stats.fill)),
    plan
      ? fact('Created for', plan.expectedUrls === null ? 'any number' : plural(plan.expectedUrls, 'URL'))
      : null,
    plan?.bits ? fact('m, bits', count(plan.bits)) : null,
    plan?.hashes ? fact('k, hashes', count(plan.hashes)) : null,
    ...(plan?.shape
      ? Object.entries(plan.shape).map(([name, value]) => fact(name, value === null ? 'none' : String(value)))
      : []),
    bloom ? fact('Capacity', count(bloom.capacity)) : null,
    bloom ? fact('Error rate', rate(bloom.errorRate)) : null,
    bloom ? fact('Expansion', bloom.expansion === 0 ? 'none' : count(bloom.expansion)) : null,
  )
}

function countFacts({ stats, meters, kind, createdAt, expiresAt }: SieveInfo): HTMLElement {
  return facts(
    'Counts',
    fact('URLs remembered', count(stats.urls)),
    fact('Answered “seen”', count(stats.seen)),
    fact('Not a URL', count(stats.invalid)),
    fact('Adds since the start', count(meters.adds)),
    fact('New since the start', count(meters.fresh)),
    fact('Queries since the start', count(meters.asks)),
    fact('Filter', stats.filter),
    fact('Profile', stats.profile),
    fact('Hash', stats.hash),
    fact('Created', moment(createdAt)),
    expiresAt === undefined ? null : fact('Expires', moment(expiresAt)),
    fact('Kind', KINDS[kind]),
  )
}

function storeFacts({ stats: { store } }: SieveInfo): HTMLElement {
  if (!store) return facts('Storage', fact('Store', 'in memory only: lost when the server stops'))
  return facts(
    'Storage',
    fact('Folder', h('code', { class: 'url' }, store.path)),
    fact('Durability', store.durability),
    fact('Log', bytes(store.logBytes)),
    fact('Snapshot', store.snapshotting ? 'being written' : bytes(store.snapshotBytes)),
    fact('Keeps the keys', store.keepKeys ? 'yes' : 'no'),
  )
}

function layerTable({ stats: { layers } }: SieveInfo): HTMLElement | null {
  if (!layers) return null
  const row = (layer: (typeof layers)[number]) =>
    h(
      'tr',
      {},
      h('th', { scope: 'row' }, layer.name),
      h(
        'td',
        { class: 'meter-cell' },
        h('meter', { min: 0, max: 1, value: layer.fill, 'aria-label': `Fill of ${layer.name}` }),
      ),
      h('td', { class: 'number' }, share(layer.fill)),
      h('td', { class: 'number' }, count(Math.round(layer.distinct))),
    )
  return h(
    'section',
    {},
    h('h2', {}, 'Layers'),
    h(
      'table',
      { class: 'layer-fill' },
      h('caption', { class: 'unseen' }, 'Fill of each layer'),
      h(
        'thead',
        {},
        h(
          'tr',
          {},
          h('th', { scope: 'col' }, 'Layer'),
          h('th', { scope: 'col', colspan: 2 }, 'Fill'),
          h('th', { scope: 'col', class: 'number' }, 'Distinct entries'),
        ),
      ),
      h('tbody', {}, ...layers.map(row)),
    ),
  )
}

export const sieveView: View = async (frame) => {
  const { root, live, name, signal } = frame
  const first = await api.sieve(name).catch((error: unknown) => {
    if (isMissing(error)) return null
    throw error
  })
  if (signal.aborted) return
  if (first === null) {
    fill(
      root,
      heading(nameText(name)),
      notice('There is no sieve with this name.', h('p', {}, h('a', { href: '#/' }, 'All sieves'))),
    )
    return
  }
  const charts = new SieveCharts(name, true)
  const spans = new SpanChoice(() => showCharts())
  const shapes = new ShapeTable(name)
  const numbers = h('div', { class: 'fact-groups' })
  const errorLine = new ErrorLine()
  const done = h('p', { class: 'answer', role: 'status' })
  const save = h('button', { type: 'button' }, 'Save now')
  const drop = h('button', { type: 'button', class: 'danger' }, 'Delete')
  const tryLink = h(
    'a',
    { class: 'button', href: `#/try?${new URLSearchParams({ sieve: name })}` },
    'Try a URL',
  )

  const draw = (info: SieveInfo) =>
    fill(numbers, rateFacts(info), sizeFacts(info), countFacts(info), storeFacts(info), layerTable(info))
  const refresh = async () => {
    const info = await api.sieve(name)
    if (!signal.aborted) draw(info)
  }

  save.addEventListener('click', () =>
    errorLine.during(save, async () => {
      await api.save(name)
      fill(
        done,
        first.stats.store ? 'Saved to disk.' : 'This sieve is in memory only: there is nothing to save to.',
      )
      await refresh()
    }),
  )
  drop.addEventListener('click', async () => {
    const known = plural(
      live.snapshot?.sieves.find((one) => one.name === name)?.urls ?? first.stats.urls,
      'URL',
    )
    const isSure = await confirm(
      ['Delete ', nameText(name), '?'],
      `It forgets ${known} permanently: each of them will be new again.`,
      'Delete it',
    )
    if (!isSure) return
    await errorLine.during(drop, async () => {
      await api.drop(name)
      live.remove(name)
      location.hash = '#/'
    })
  })

  fill(
    root,
    h('p', { class: 'trail' }, h('a', { href: '#/' }, 'Sieves')),
    heading(nameText(name), `${first.stats.filter} · ${first.stats.profile}`),
    h('div', { class: 'row actions verbs' }, tryLink, save, drop),
    done,
    errorLine.element,
    h('section', {}, h('div', { class: 'section-head' }, h('h2', {}, 'Load'), spans.element), charts.element),
    h(
      'section',
      {},
      h('h2', {}, 'Add and query'),
      h('div', { class: 'questions' }, ...questionsFor(first, refresh)),
    ),
    shapes.element,
    numbers,
  )
  draw(first)
  const showCharts = () => {
    const sieve = live.snapshot?.sieves.find((one) => one.name === name)
    const history = live.histories.get(name)
    const show = () => sieve && history && charts.show(history, sieve.promisedRate, spans.span)
    show()
    charts.load(spans.span).then(show, () => {})
    if (live.snapshot?.hasShapes) shapes.refresh().catch(() => {})
  }
  live.listen(showCharts, signal)
  const timer = setInterval(async () => {
    const info = await api.sieve(name).catch((error: unknown) => (isMissing(error) ? null : undefined))
    if (signal.aborted || info === undefined) return
    if (info?.createdAt === first.createdAt) draw(info)
    else {
      // Dropped, or replaced by another of the same name: reload the view.
      clearInterval(timer)
      await sieveView(frame)
    }
  }, EVERY_MS)
  signal.addEventListener('abort', () => clearInterval(timer))
}
