// The layered filters on Redis or a cluster, as cen-2010 planned for its future work: layers are parts of the key space, so
// every node holds a part of every layer. What it costs and what it is worth: docs/cluster.md.
import { keyOf, type Profile, resolveProfile } from '../canonical/profiles.ts'
import { invalidOption } from '../errors.ts'
import { checkWhole } from '../filters/filter.ts'
import { chooseHash } from '../hashes.ts'
import { Keyer } from '../keyer/keyer.ts'
import { checkUrl, folderUrl } from '../url-input.ts'
import { toSeen } from '../verdicts.ts'
import { foldersOf, segmentsOf } from './key-pieces.ts'
import { RedisSieveError, UNKNOWN } from './partial-error.ts'
import { RedisSieve, type RedisSieveOptions } from './redis-sieve.ts'

/**
 * `prefix-layers`: each folder of a key, and the key; answers "anything seen under this folder?". `multilayer`: each path
 * segment in its layer, and the XOR of their hashes, as in the paper.
 */
export type LayerForm = 'prefix-layers' | 'multilayer'

export interface LayeredRedisSieveOptions extends Omit<RedisSieveOptions, 'job' | 'leaseMs'> {
  readonly form: LayerForm
  /** Layers besides the last one, which decides: from 1 to 64. Default 8; of `multilayer` 4, as the filter. */
  readonly layers?: number
}

const MOST_LAYERS = 64
const DEFAULT_LAYERS = { 'prefix-layers': 8, multilayer: 4 } as const

/** A batch: every piece once, and which of them each URL has, its last layer's last. */
interface Pieces {
  readonly keys: readonly string[]
  readonly all: string[]
  readonly ofUrl: readonly (readonly number[])[]
}

/**
 * A sieve of URLs in layers, for every process that opens the same name with the same form and number of layers. Errs
 * towards "seen": `prefix-layers` at the rate of a RedisSieve, `multilayer` also on swapped or doubled segments of known
 * URLs, for certain, as its filter. Of two processes that add a URL at the same time one gets "new".
 */
export class LayeredRedisSieve {
  readonly form: LayerForm
  readonly layers: number
  readonly profile: Profile
  /** Remembers the pieces. */
  readonly #pieces: RedisSieve
  readonly #hasher: Keyer

  private constructor(form: LayerForm, layers: number, profile: Profile, pieces: RedisSieve, hasher: Keyer) {
    this.form = form
    this.layers = layers
    this.profile = profile
    this.#pieces = pieces
    this.#hasher = hasher
  }

  /** Opens the sieve of that name, or makes it; see RedisSieve.open. */
  static async open(options: LayeredRedisSieveOptions): Promise<LayeredRedisSieve> {
    const { form, layers, profile = 'web', ...rest } = options
    if (!Object.hasOwn(DEFAULT_LAYERS, form)) {
      throw invalidOption('form', form, 'prefix-layers or multilayer')
    }
    checkWhole('layers', layers, 1, MOST_LAYERS)
    const count = layers ?? DEFAULT_LAYERS[form]
    const resolved = resolveProfile(profile)
    const name = [rest.name, form, count, resolved.name].join(':')
    const pieces = await RedisSieve.open({ ...rest, name, profile: 'raw' })
    const key = Uint8Array.from(Buffer.from(pieces.parameters.key, 'hex'))
    const hasher = await Keyer.create(resolveProfile('raw'), chooseHash('siphash', key))
    return new LayeredRedisSieve(form, count, resolved, pieces, hasher)
  }

  /** Marks a URL. True: it is new. */
  async add(url: string): Promise<boolean> {
    return (await this.addMany([url]))[0] === 1
  }

  /** Whether a URL was seen. Marks nothing. */
  async has(url: string): Promise<boolean> {
    return (await this.hasMany([url]))[0] === 1
  }

  /** Marks many URLs: 1 new and 0 seen, in order. Fails as RedisSieve.addMany. */
  addMany(urls: readonly string[]): Promise<Uint8Array> {
    const pieces = this.#piecesOf(urls)
    return this.form === 'multilayer' ? this.#addUnlessSeen(pieces) : this.#add(pieces, pieces.all, lastOf)
  }

  // Pieces have come with other URLs too, so none of them decides: a URL with a piece that nobody has seen is decided by its key.
  async #addUnlessSeen(pieces: Pieces): Promise<Uint8Array> {
    const isUsed = new Uint8Array(pieces.all.length)
    const isOpen = await verdictsOf(pieces, asVerdicts(this.#pieces.hasMany(pieces.all)), (own, known) => {
      const unseen = own.filter((piece) => known[piece] !== 0 && !isUsed[piece])
      for (const piece of own) isUsed[piece] = 1
      if (unseen.length === 0) return 0
      return unseen.some((piece) => known[piece] === 1) ? 1 : UNKNOWN
    }).catch((error: unknown) => {
      // Nothing is marked: no URL is new.
      if (error instanceof RedisSieveError)
        throw new RedisSieveError(
          error,
          error.verdicts.map((one) => (one ? UNKNOWN : 0)),
        )
      throw error
    })
    const open = pieces.ofUrl.flatMap((own, i) => (isOpen[i] ? own : []))
    const keys = pieces.keys.map((key) => `key ${key}`)
    const sent = [
      ...new Set([...keys.filter((_, i) => isOpen[i]), ...open.map((piece) => pieces.all[piece]!)]),
    ]
    const places = new Map(sent.map((piece, place) => [piece, place]))
    return this.#add(pieces, sent, (_, i) => (isOpen[i] ? places.get(keys[i]!)! : null))
  }

  // Who has marked the deciding piece of a URL gets "new", for the first URL that has it; null: it was seen.
  #add(
    pieces: Pieces,
    sent: readonly string[],
    deciding: (own: readonly number[], i: number) => number | null,
  ): Promise<Uint8Array> {
    const isUsed = new Uint8Array(sent.length)
    return verdictsOf(pieces, this.#pieces.addMany(sent), (own, known, i) => {
      const piece = deciding(own, i)
      if (piece === null) return 0
      const verdict = known[piece]!
      if (isUsed[piece] && verdict === 1) return 0
      isUsed[piece] = 1
      return verdict
    })
  }

  /** Whether each of many URLs was seen: 1 seen and 0 not, in order. Marks nothing. Fails as RedisSieve.hasMany. */
  hasMany(urls: readonly string[]): Promise<Uint8Array> {
    const pieces = this.#piecesOf(urls)
    const answers = asVerdicts(this.#pieces.hasMany(pieces.all))
    const verdicts = verdictsOf(pieces, answers, (own, known) => {
      const some = own.map((piece) => known[piece]!)
      return some.includes(1) ? 1 : some.includes(UNKNOWN) ? UNKNOWN : 0
    })
    return asVerdicts(verdicts)
  }

  /** Whether anything was seen under a host or folder, such as `example.com/blog/`; see FolderSieve. */
  async hasUnder(folder: string): Promise<boolean> {
    const url = folderUrl(folder)
    if (this.form !== 'prefix-layers') throw invalidOption('form', this.form, 'prefix-layers for hasUnder')
    const deepest = foldersOf(this.#keyOf(url), this.layers)
    return this.#pieces.has(`${deepest.length} ${deepest.at(-1) ?? ''}`)
  }

  /** The pieces that the cluster remembers, and an estimate of their size. */
  async stats(): Promise<{ pieces: number; sizeBytes: number }> {
    const { urls, sizeBytes } = await this.#pieces.stats()
    return { pieces: urls, sizeBytes }
  }

  /** Forgets everything, and the sieve itself. */
  drop(): Promise<void> {
    return this.#pieces.drop()
  }

  /** Waits for the calls under way. The client stays open: it is yours. */
  close(): Promise<void> {
    return this.#pieces.close()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  #keyOf(url: string): string {
    checkUrl(url)
    return keyOf(this.profile, url) ?? url
  }

  #piecesOf(urls: readonly string[]): Pieces {
    const indexes = new Map<string, number>()
    const all: string[] = []
    const indexOf = (piece: string): number => {
      const known = indexes.get(piece)
      if (known !== undefined) return known
      indexes.set(piece, all.length)
      return all.push(piece) - 1
    }
    const keys = urls.map((url) => this.#keyOf(url))
    const last = this.form === 'multilayer' ? this.#joined(keys) : keys
    const partsOf = this.form === 'multilayer' ? segmentsOf : foldersOf
    const ofUrl = keys.map((key, i) => [
      ...partsOf(key, this.layers).map((part, layer) => indexOf(`${layer + 1} ${part}`)),
      indexOf(`0 ${last[i]}`),
    ])
    return { keys, all, ofUrl }
  }

  // The XOR of the hashes of a key's segments.
  #joined(keys: readonly string[]): string[] {
    const segments = keys.map((key) => segmentsOf(key, this.layers))
    const { hashes } = this.#hasher.hashesOf({ strings: segments.flat() })
    let at = 0
    return segments.map((all) => {
      let joined = 0n
      for (let i = 0; i < all.length; i++) joined ^= hashes[at++]!
      return joined.toString(16)
    })
  }
}

/** Of a URL: its pieces, the answers for all pieces, its place in the batch. */
type VerdictOf = (own: readonly number[], known: Uint8Array, i: number) => number

const lastOf = (own: readonly number[]) => own.at(-1)!

async function verdictsOf(
  { ofUrl }: Pieces,
  answers: Promise<Uint8Array>,
  verdictOf: VerdictOf,
): Promise<Uint8Array> {
  const verdicts = (known: Uint8Array) => Uint8Array.from(ofUrl, (own, i) => verdictOf(own, known, i))
  try {
    return verdicts(await answers)
  } catch (error) {
    if (error instanceof RedisSieveError) throw new RedisSieveError(error, verdicts(error.verdicts))
    throw error
  }
}

// "Was seen" turned into "is new", or back; what a call that failed has answered too.
function asVerdicts(answers: Promise<Uint8Array>): Promise<Uint8Array> {
  return answers.then(toSeen, (error: unknown) => {
    if (error instanceof RedisSieveError) {
      toSeen(error.verdicts)
      toSeen(error.answered!)
    }
    throw error
  })
}
