// The structures one can play with: what may be chosen of each, and which options of the library that makes.
import { filterKinds } from '../../../src/filters/registry.ts'
import type { FilterName, FilterOptions } from '../../../src/index.ts'

export type FieldName = 'bits' | 'hashes' | 'layers' | 'urls' | 'rate'
export type Settings = Readonly<Record<FieldName, number>>

export interface Field {
  readonly name: FieldName
  readonly sign: string
  readonly label: string
  readonly least: number
  readonly most: number
  readonly step: number | 'any'
}

export interface Structure {
  readonly name: FilterName
  /** What to look for while it fills. */
  readonly watch: string
  /** What the formula is for, where that is not every new URL. */
  readonly formula?: string
  readonly fields: readonly Field[]
  readonly start: Partial<Settings>
  options(settings: Settings): FilterOptions
}

const field = (
  name: FieldName,
  sign: string,
  label: string,
  [least, most]: readonly [number, number],
  step: number | 'any' = 1,
): Field => ({ name, sign, label, least, most, step })

/** More bits than this no screen shows and no reader counts. */
const MOST_BITS = 262_144

const m = field('bits', 'm', 'bits', [64, MOST_BITS])
const mOfLayer = field('bits', 'm', 'bits a layer', [64, 65_536])
const k = field('hashes', 'k', 'hashes', [1, 16])
const layers = field('layers', 'L', 'layers', [1, 8])
const n = field('urls', 'n', 'URLs it is made for', [1, 1_000_000])
const p = field('rate', 'p', 'promised rate', [1e-9, 0.5], 'any')

const sized = ({ bits, hashes, urls }: Settings): FilterOptions => ({ bits, hashes, expectedUrls: urls })
const layered = ({ bits, hashes, urls, layers }: Settings): FilterOptions => ({
  bitsPerLayer: bits,
  hashes,
  layers,
  expectedUrls: urls,
})

export const defaults: Settings = { bits: 4096, hashes: 4, layers: 4, urls: 500, rate: 0.01 }

const described: readonly Structure[] = [
  {
    name: 'classic',
    watch:
      'Every URL sets k bits anywhere in the array. Half full is as good as it gets: past that it errs fast.',
    fields: [m, k, n],
    start: {},
    options: sized,
  },
  {
    name: 'blocked',
    watch:
      'All k bits of a URL fall into one block of 512 bits, a single cache line. Some blocks fill faster than others, and those err.',
    fields: [m, k, n],
    start: { bits: 8192 },
    options: sized,
  },
  {
    name: 'multilayer',
    watch:
      'Each segment has a layer. The first fills slowly, since hosts repeat; the XOR layer holds every whole URL and decides in the end.',
    formula:
      'The formula is for known pieces in a new combination, which the XOR layer alone has to tell apart.',
    fields: [mOfLayer, k, layers, n],
    start: { bits: 2048, hashes: 3 },
    options: layered,
  },
  {
    name: 'prefix-layers',
    watch: 'One array for all: the bits of whole URLs in full colour, those of their folders in grey.',
    fields: [m, k, layers, n],
    start: { bits: 8192 },
    options: ({ bits, hashes, urls, layers }) => ({ bits, hashes, layers, expectedUrls: urls }),
  },
  {
    name: 'eigenvalue',
    watch:
      'The second region holds a feature of the host. Few hosts, few bits: it soon passes everything of a known site.',
    formula: 'The formula is for a URL whose feature is known: the first region alone.',
    fields: [m, k, n],
    start: {},
    options: sized,
  },
  {
    name: 'keyword-layers',
    watch: 'The words of a URL are dealt to the layers in turn; order is lost, so the layers fill alike.',
    formula:
      'The formula is for known pieces in a new combination, which the XOR layer alone has to tell apart.',
    fields: [mOfLayer, k, layers, n],
    start: { bits: 2048, hashes: 3, layers: 3 },
    options: layered,
  },
  {
    name: 'scalable',
    watch:
      'When a generation is full, a larger and tighter one begins. Watch the rate stay under its promise.',
    fields: [field('urls', 'n', 'URLs of the first generation', [1, 100_000]), p],
    start: { urls: 100 },
    options: ({ urls, rate }) => ({ expectedUrls: urls, falsePositiveRate: rate, inner: 'classic' }),
  },
  {
    name: 'fingerprint',
    watch:
      'No bits: each slot is a 64-bit hash, less the bits that its bucket tells. A false positive takes two URLs that share all 64.',
    fields: [],
    start: {},
    options: () => ({}),
  },
]

// A filter that is not described above and fits into one instance: sized for n URLs at a rate.
const others = filterKinds.flatMap(({ name, does, errs, takes, hasOwnInstances }): Structure[] =>
  takes === 'keys' || hasOwnInstances || described.some((structure) => structure.name === name)
    ? []
    : [
        {
          name: name as FilterName,
          watch: `${does[0]!.toUpperCase()}${does.slice(1)}. Errs ${errs}.`,
          fields: [n, p],
          start: { urls: 2000 },
          options: ({ urls, rate }) => ({ expectedUrls: urls, falsePositiveRate: rate }),
        },
      ],
)

export const structures: readonly Structure[] = [...described, ...others]

export const settingsOf = (structure: Structure): Settings => ({ ...defaults, ...structure.start })
