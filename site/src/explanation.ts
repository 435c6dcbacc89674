// Shows an explanation: the key, the effect of each rule, and the verdict of each layer.
import type { Explanation, KeyExplanation, LayerVerdict } from './api.ts'
import { difference, type Part } from './difference.ts'
import { h } from './dom.ts'
import { plural } from './format.ts'
import { verdictMark } from './view.ts'

type Step = KeyExplanation['steps'][number]

const marked = (tag: 'del' | 'ins', parts: readonly Part[]): HTMLElement =>
  h('code', { class: 'url' }, ...parts.map(({ text, changed }) => (changed ? h(tag, {}, text) : text)))

function stepItem({ rule, does, before, after, changed, notes }: Step): HTMLElement {
  if (!changed) {
    const note = notes.length > 0 ? notes.join('; ') : 'nothing to change'
    return h(
      'li',
      { class: 'same' },
      h('h3', {}, rule),
      h('p', { class: 'does' }, does),
      h('p', { class: 'hint' }, note),
    )
  }
  const parts = difference(before, after)
  return h(
    'li',
    {},
    h('h3', {}, rule),
    h('p', { class: 'does' }, does),
    h(
      'dl',
      { class: 'change' },
      h('div', {}, h('dt', {}, 'before'), h('dd', {}, marked('del', parts.before))),
      h('div', {}, h('dt', {}, 'after'), h('dd', {}, marked('ins', parts.after))),
    ),
    notes.length > 0 && h('p', { class: 'hint' }, notes.join('; ')),
  )
}

export function keySection({ url, key, isUrl, steps }: KeyExplanation): HTMLElement {
  const changes = steps.filter(({ changed }) => changed).length
  return h(
    'section',
    { class: 'explained' },
    h('h2', {}, 'Key'),
    h('p', { class: 'key-line-block' }, h('code', { class: 'url' }, key)),
    h(
      'p',
      { class: 'hint' },
      isUrl
        ? key === url
          ? 'The URL is its own key.'
          : `${plural(changes, 'rule')} of ${steps.length} changed it.`
        : 'This is not a URL: its bytes are used as the key.',
    ),
    steps.length > 0 && h('h2', {}, 'Rules, in order'),
    steps.length > 0 && h('ol', { class: 'steps' }, ...steps.map(stepItem)),
  )
}

export interface LayerRow extends LayerVerdict {
  readonly isDecisive: boolean
  /** The reason for its verdict. */
  readonly note?: string
}

/** The verdict of each layer on its part of the key; the deciding layer is highlighted. */
export function layerList(rows: readonly LayerRow[]): HTMLElement {
  const item = ({ name, of, verdict, isDecisive, note }: LayerRow) =>
    h(
      'li',
      { class: isDecisive ? 'decided' : '' },
      h('span', { class: 'layer-name' }, name, isDecisive && h('span', { class: 'tag' }, 'decided')),
      h('code', { class: 'url' }, of),
      h('span', { class: 'layer-note' }, note ?? ''),
      verdictMark(verdict),
    )
  return h('ol', { class: 'layers' }, ...rows.map(item))
}

export function layerSection({ layers, decidedBy, verdict }: Explanation): HTMLElement | null {
  if (!layers || layers.length === 0) return null
  const why =
    verdict === 'seen'
      ? 'Every layer has seen its part, so the answer is “seen”.'
      : 'One layer that has not seen its part is enough for “new”.'
  const rows = layers.map((layer) => ({ ...layer, isDecisive: layer.name === decidedBy }))
  return h('section', {}, h('h2', {}, 'Layers'), h('p', { class: 'hint' }, why), layerList(rows))
}
