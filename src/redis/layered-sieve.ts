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

/** A batch: every piece once, and which of them each URL has. */
interface Pieces {
  readonly all: string[]
  readonly ofUrl: readonly (readonly number[])[]
}

/**
 * A sieve of URLs in layers, for every process that opens the same name with the same form and number of layers. Errs
 * towards "seen": `prefix-layers` at the rate of a RedisSieve, `multilayer` also on swapped or doubled segments of known
 * URLs, for certain, as its filter. Of two processes that add a URL at the same time at least one gets "new".
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
    // A piece that is new is new for the first URL that has it.
    const isUsed = new Uint8Array(pieces.all.length)
    return this.#verdicts(pieces, this.#pieces.addMany(pieces.all), (verdict, piece) => {
      const isFirst = isUsed[piece] === 0
      isUsed[piece] = 1
      return isFirst ? verdict : verdict === UNKNOWN ? UNKNOWN : 0
    })
  }

  /** Whether each of many URLs was seen: 1 seen and 0 not, in order. Marks nothing. Fails as RedisSieve.hasMany. */
  hasMany(urls: readonly string[]): Promise<Uint8Array> {
    const pieces = this.#piecesOf(urls)
    const answers = asVerdicts(this.#pieces.hasMany(pieces.all))
    return asVerdicts(this.#verdicts(pieces, answers, (verdict) => verdict))
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
    return { all, ofUrl }
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

  // A URL is new when one of its pieces is; unknown when none is new and one is unknown.
  async #verdicts(
    { ofUrl }: Pieces,
    answers: Promise<Uint8Array>,
    verdictOf: (verdict: number, piece: number) => number,
  ): Promise<Uint8Array> {
    let failure: RedisSieveError | undefined
    const known = await answers.catch((error: unknown) => {
      if (!(error instanceof RedisSieveError)) throw error
      failure = error
      return error.verdicts
    })
    const verdicts = Uint8Array.from(ofUrl, (pieces) => {
      const own = pieces.map((piece) => verdictOf(known[piece]!, piece))
      return own.includes(1) ? 1 : own.includes(UNKNOWN) ? UNKNOWN : 0
    })
    if (failure) throw new RedisSieveError(failure, verdicts)
    return verdicts
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
