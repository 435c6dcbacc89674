// Which layer of a multilayer or prefix-layers filter decided about a URL: what each says of its part of the key. For
// people who look at one URL; it marks nothing, and errs as the filter does.
import type { Explanation, FolderSieve, Sieve } from '../index.ts'
import { type SieveState, STATE } from '../state.ts'

export interface LayerVerdict {
  readonly name: string
  /** The part of the key this layer remembers. */
  readonly of: string
  readonly verdict: 'new' | 'seen'
}

export interface Layers {
  readonly layers?: readonly LayerVerdict[]
  /** The layer whose word was the last: the first that does not know its part, or the last one that does. */
  readonly decidedBy?: string
}

/** The layers' part of an explanation that the same sieve gave just now; nothing for any other filter. */
export function layersOf(sieve: Sieve, explanation: Explanation): Layers {
  const { filter } = sieve.plan
  if (filter === 'prefix-layers') return decided(folders(sieve as FolderSieve, explanation))
  return filter === 'multilayer' ? decided(pieces(sieve[STATE])) : {}
}

function decided(layers: readonly LayerVerdict[]): Layers {
  const decisive = layers.find(({ verdict }) => verdict === 'new') ?? layers.at(-1)
  return decisive ? { layers, decidedBy: decisive.name } : {}
}

const decoder = new TextDecoder()

const said = (isThere: boolean) => (isThere ? 'seen' : 'new')

function folders(sieve: FolderSieve, { key, verdict }: Explanation): LayerVerdict[] {
  const { layers } = sieve.plan.shape as { layers: number }
  const scheme = /^[^/:]*:\/\//.exec(key)?.[0] ?? ''
  const path = key.slice(scheme.length).split('?', 1)[0]!.split('/').slice(0, -1)
  const found = path.slice(0, layers).map((_, i) => {
    const folder = `${scheme}${path.slice(0, i + 1).join('/')}/`
    return { name: `folders of depth ${i + 1}`, of: folder, verdict: said(sieve.hasUnder(folder)) } as const
  })
  return [...found, { name: 'whole keys', of: key, verdict }]
}

// The key is still the batch's first: the sieve explained it just now.
function pieces({ kernel }: SieveState): LayerVerdict[] {
  const { call } = kernel
  const count = call.multilayerLook()
  kernel.refresh()
  if (count < 0) return []
  const places = new Uint32Array(kernel.bytes.buffer, call.multilayerPieces() >>> 0, 2 * count)
  const texts = Array.from({ length: count }, (_, i) =>
    decoder.decode(kernel.bytes.subarray(places[2 * i], places[2 * i + 1])),
  )
  const found = texts.map(
    (of, i): LayerVerdict => ({ name: `layer ${i + 1}`, of, verdict: said(call.multilayerKnows(i) === 1) }),
  )
  return [
    ...found,
    { name: 'XOR layer', of: texts.join(' ⊕ '), verdict: said(call.multilayerKnows(count) === 1) },
  ]
}
