// The options that filters take, each described once. A filter lists those it takes in its own file; which are valid
// together is for its plan to check.
import {
  choice,
  choiceOrFunction,
  durationKind,
  type Kind,
  type OptionsOf,
  rateKind,
  type SieveOption,
  sizeKind,
  wholeNumber,
} from './option.ts'

/** An option with its type kept: `name` is a literal type, so that the options of a filter are known by name. */
const describe = <const N extends string, T>(option: SieveOption<N, T>): SieveOption<N, T> => option

export const expectedUrls = describe({
  name: 'expectedUrls',
  kind: wholeNumber(1),
  does: 'distinct URLs it is planned for',
  flag: '--urls',
  word: 'URLS',
})

export const falsePositiveRate = describe({
  name: 'falsePositiveRate',
  kind: rateKind,
  does: 'promised false-positive rate at that many URLs',
  flag: '--fpr',
  word: 'FPR',
})

export const sizeBytes = describe({
  name: 'sizeBytes',
  kind: sizeKind,
  does: 'memory for the filter, instead of a rate',
  flag: '--memory',
  word: 'MEMORY',
})

export const bits = describe({
  name: 'bits',
  kind: wholeNumber(8, 2 ** 48 - 1, '2^48'),
  does: "bits of the whole filter: the papers' m",
  flag: '--bits',
  word: 'BITS',
})

export const hashes = describe({
  name: 'hashes',
  kind: wholeNumber(1, 64),
  does: "hash functions per URL: the papers' k",
  flag: '--hashes',
  word: 'HASHES',
})

/** The sizes of a filter that grows: a capacity is not needed. */
export const growingSizes = [expectedUrls, falsePositiveRate] as const

/** The sizes of a filter of slots. */
export const slotSizes = [expectedUrls, { ...falsePositiveRate, default: '1e-6' }, sizeBytes, bits] as const

/** The sizes of a filter with a fixed number of bits. */
export const fixedSizes = [...slotSizes, hashes] as const

export const layers = describe({
  name: 'layers',
  kind: wholeNumber(1, 64),
  does: 'number of layers',
  flag: '--layers',
  word: 'LAYERS',
  example: '4',
})

export const depth = describe({
  name: 'depth',
  kind: choice(['join', 'grow']),
  does: 'segments past the last layer: join them into it, or grow a layer for each',
  default: 'join',
  flag: '--depth',
  word: 'DEPTH',
  example: 'grow',
})

export const bitsPerLayer = describe({
  name: 'bitsPerLayer',
  kind: wholeNumber(8, 2 ** 48, '2^48'),
  does: "bits of each layer: the papers' m",
  flag: '--bits-per-layer',
  word: 'BITSPERLAYER',
})

export const folderHashes = describe({
  name: 'folderHashes',
  kind: wholeNumber(1, 64),
  does: 'hash functions per folder',
  default: '3',
  flag: '--folder-hashes',
  word: 'FOLDERHASHES',
  example: '4',
})

export const keywords = describe({
  name: 'keywords',
  kind: wholeNumber(1, 1e6),
  does: 'words expected in a key; divided by the hashes they give the layers',
  default: '12',
  flag: '--keywords',
  word: 'KEYWORDS',
  example: '8',
})

/** The feature function g, by the names of those built in. */
export const features = <const N extends string>(names: readonly N[]) =>
  describe({
    name: 'features',
    kind: choiceOrFunction<N, (key: string) => string>(names),
    does: 'the feature function g; in the library also your own',
    default: names[0]!,
    flag: '--features',
    word: 'FEATURES',
    example: names[1]!,
  })

export const featureHashes = describe({
  name: 'featureHashes',
  kind: wholeNumber(1, 64),
  does: "hash functions of the feature: the paper's d",
  default: 'hashes / 3, rounded up',
  flag: '--feature-hashes',
  word: 'FEATUREHASHES',
  example: '2',
})

/** The filter inside a filter of several; the first name is the default. */
export const inner = <const N extends string>(names: readonly N[], example?: N) =>
  describe({
    name: 'inner',
    kind: choice(names),
    does: 'the filter inside',
    default: names[0]!,
    flag: '--inner',
    word: 'INNER',
    ...(example !== undefined && { example }),
  })

export const windowMs = describe({
  name: 'windowMs',
  kind: windowKind(durationKind),
  does: 'how long a URL is remembered',
  flag: '--window',
  word: 'WINDOW',
  example: '30d',
})

export const windowUrls = describe({
  name: 'windowUrls',
  kind: windowKind(wholeNumber(2)),
  does: 'how many URLs are remembered',
  default: 'as expectedUrls',
  flag: '--window',
  word: 'WINDOW',
})

function windowKind<T>(kind: Kind<T>): Kind<T> {
  return { ...kind, placeholder: '<n|time>' }
}

export const generations = describe({
  name: 'generations',
  kind: wholeNumber(2, 255),
  does: 'parts in which it forgets the oldest URLs',
  default: '8',
  flag: '--generations',
  word: 'GENERATIONS',
  example: '15',
})

/** The sizes of any filter. */
export type SizeRequest = OptionsOf<typeof fixedSizes>

/** The options of all filters, as the plan of a filter takes them; each filter is given only its own. */
export type FilterOptions = SizeRequest &
  OptionsOf<
    readonly [
      typeof layers,
      typeof depth,
      typeof bitsPerLayer,
      typeof folderHashes,
      typeof keywords,
      SieveOption<'features', string | ((key: string) => string)>,
      typeof featureHashes,
      SieveOption<'inner', string>,
      typeof windowMs,
      typeof windowUrls,
      typeof generations,
    ]
  >
