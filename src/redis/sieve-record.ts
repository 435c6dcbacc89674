// What is written down of a sieve under its name: its parameters, once, by the first process that opens it.
import { SieveError } from '../errors.ts'
import type { Calls } from './calls.ts'
import {
  checkShape,
  type Parameters,
  parametersFor,
  readParameters,
  type Shape,
  withMoreTags,
} from './parameters.ts'
import { replaceScript } from './scripts.ts'

/** The names of all sieves there. */
const NAMES = 'urlsieve'

export async function sieveNames(calls: Calls): Promise<string[]> {
  const names = (await calls.command(NAMES, ['SMEMBERS', NAMES])) as Iterable<unknown>
  return Array.from(names, String).sort()
}

export class SieveRecord {
  readonly #name: string
  readonly #key: string
  readonly #calls: Calls

  constructor(name: string, calls: Calls) {
    this.#name = name
    this.#key = `urlsieve:${name}`
    this.#calls = calls
  }

  /** The parameters that are there, or of the shape; `find`: null when there are none. `create`: throws when there are. */
  async parameters(shape: Shape, way: 'open' | 'create' | 'find'): Promise<Parameters | null> {
    let there = await this.#read()
    if (there === null) {
      if (way === 'find') return null
      const text = JSON.stringify(parametersFor(shape))
      // A repeat after a lost answer finds its own text there.
      await this.#calls.command(this.#key, ['SET', this.#key, text, 'NX'])
      there = await this.#read()
      if (way === 'create' && there !== text) throw this.#taken()
      await this.#calls.command(NAMES, ['SADD', NAMES, this.#name])
    } else if (way === 'create') throw this.#taken()
    const parameters = readParameters(this.#name, String(there))
    checkShape(this.#name, parameters, shape)
    return parameters
  }

  /** The parameters as they are now; null when the sieve of those known was dropped. */
  async current(known: Parameters): Promise<Parameters | null> {
    return (await this.#stored(known))?.parameters ?? null
  }

  /** Gives the sieve more tags, unless another process has. */
  async withMoreTags(known: Parameters, tags: number): Promise<Parameters> {
    for (;;) {
      const stored = await this.#stored(known)
      if (!stored) throw new SieveError('option', `sieve '${this.#name}' was dropped: open it again`)
      const { text, parameters } = stored
      if (parameters.tags === tags && parameters.earlier) return parameters
      const more = withMoreTags(this.#name, parameters, tags)
      const args = [text, JSON.stringify(more)]
      if ((await this.#calls.script(replaceScript, [this.#key], args)) === 1) return more
    }
  }

  async remove(): Promise<void> {
    await this.#calls.command(this.#key, ['DEL', this.#key])
    await this.#calls.command(NAMES, ['SREM', NAMES, this.#name])
  }

  async #read(): Promise<string | null> {
    const there = await this.#calls.command(this.#key, ['GET', this.#key])
    return there === null ? null : String(there)
  }

  async #stored(known: Parameters): Promise<{ text: string; parameters: Parameters } | null> {
    const text = await this.#read()
    if (text === null) return null
    const parameters = readParameters(this.#name, text)
    return isSame(parameters, known) ? { text, parameters } : null
  }

  #taken(): SieveError {
    return new SieveError('option', `sieve '${this.#name}' is there already: open it, or use another name`)
  }
}

/** Whether both are of one sieve, and not of two that had the name one after the other. */
const isSame = (a: Parameters, b: Parameters) => a.key === b.key && a.createdAt === b.createdAt
