// What urlsieve throws on purpose: one line that says what it got, what it expected and what to do. The names of options
// in a message are kept apart from its text, so that each edge spells them its own way: `expectedUrls` in the library,
// `--urls` in the command, `URLS` over RESP, `body/expectedUrls` over HTTP.

/** The cause of a `SieveError`, for programs. */
export type SieveErrorCode =
  /** An invalid option, or an invalid combination of options. */
  | 'option'
  /** The machine, or one WebAssembly memory, has no memory left for the request. */
  | 'memory'
  /** A filter of a fixed capacity takes no more URLs. */
  | 'full'
  /** A file that is not what was written: damaged, or not a sieve. */
  | 'corrupt'
  /** A file of a format version that this urlsieve does not read. */
  | 'version'
  /** Another process is writing there. */
  | 'locked'
  /** The disk is full, read-only or broken. */
  | 'disk'
  /** A server or cluster does not answer, or refuses. */
  | 'network'

/** The name of an option inside a message. */
export class OptionName {
  readonly name: string
  constructor(name: string) {
    this.name = name
  }
}

type Part = string | OptionName

/** The text of a message, with the names of options kept apart. Written with the template tag `wording`. */
export class Wording {
  readonly #parts: readonly Part[]

  constructor(parts: readonly Part[]) {
    this.#parts = parts
  }

  /** The text with each option's name as `spell` returns it. */
  spell(spell: (option: string) => string): string {
    return this.#parts.map((part) => (typeof part === 'string' ? part : spell(part.name))).join('')
  }

  get parts(): readonly Part[] {
    return this.#parts
  }
}

export const option = (name: string) => new OptionName(name)

/** A message that names options: wording`both ${option('bits')} and ${option('sizeBytes')} are given`. */
export function wording(
  strings: TemplateStringsArray,
  ...values: readonly (string | number | OptionName | Wording)[]
): Wording {
  const parts: Part[] = []
  for (const [i, string] of strings.entries()) {
    parts.push(string)
    const value = values[i]
    if (value instanceof Wording) parts.push(...value.parts)
    else if (value instanceof OptionName) parts.push(value)
    else if (value !== undefined) parts.push(String(value))
  }
  return new Wording(parts)
}

export interface SieveErrorDetails {
  /** The option that is invalid, by its name in the library. */
  readonly option?: string | undefined
  /** What was given. */
  readonly got?: unknown
  /** What is valid instead. */
  readonly expected?: string | undefined
  /** Of a disk error: what failed. */
  readonly operation?: 'read' | 'write' | undefined
}

const asIs = (name: string) => name

/** What urlsieve throws on purpose: one line that says what it got, what it expected and what to do. */
export class SieveError extends Error {
  /** The cause, for programs. */
  readonly code: SieveErrorCode
  /** The option that is invalid, by its name in the library. */
  declare readonly option?: string
  /** What was given. */
  declare readonly got?: unknown
  /** What is valid instead, in words. */
  declare readonly expected?: string
  /** Of a disk error: what failed. */
  declare readonly operation?: 'read' | 'write'
  /** Of a call with many URLs that failed on the way: the verdicts of its first ones, which stand. */
  answered?: Uint8Array
  readonly #wording: Wording

  constructor(code: SieveErrorCode, message: string | Wording, details: SieveErrorDetails = {}) {
    const text = typeof message === 'string' ? new Wording([message]) : message
    super(text.spell(asIs))
    this.name = 'SieveError'
    this.code = code
    this.#wording = text
    if (details.option !== undefined) this.option = details.option
    if ('got' in details) this.got = details.got
    if (details.expected !== undefined) this.expected = details.expected
    if (details.operation !== undefined) this.operation = details.operation
  }

  /** The message with each option's name as `spell` returns it: for an edge with its own words. */
  spell(spell: (option: string) => string): string {
    return this.#wording.spell(spell)
  }

  /** The message as it was composed, to compose another of it. */
  get wording(): Wording {
    return this.#wording
  }
}

/** A value as messages show it. */
export function showValue(value: unknown): string {
  if (typeof value === 'string') return `'${value}'`
  return typeof value === 'number' ? String(value) : (JSON.stringify(value) ?? String(value))
}

/** The error for an invalid value of an option: `layers 0: expected a whole number from 1 to 64`, and advice where there is any. */
export function invalidOption(name: string, got: unknown, expected: string, advice?: string): SieveError {
  const what = wording`${option(name)} ${showValue(got)}: expected ${expected}`
  return new SieveError('option', advice === undefined ? what : wording`${what}; ${advice}`, {
    option: name,
    got,
    expected,
  })
}

/** The error for an option that must be given, or must be left out, because of others. */
export function optionConflict(name: string, message: Wording, expected?: string): SieveError {
  return new SieveError('option', message, { option: name, expected })
}

/** The error for a verb of what was closed. */
export function closedError(what: string): SieveError {
  return new SieveError('option', `${what} is closed: open it again`)
}

/** The error for a change of a store that was opened read-only. */
export function readOnlyError(folder: string): SieveError {
  return new SieveError('option', `${folder} is open read-only: open it without readOnly to change it`)
}

/** The error for a file or folder that cannot be read. */
export function unreadable(path: string, why: string): SieveError {
  return new SieveError('disk', `cannot read ${path}: ${why}`, { operation: 'read' })
}

/** What V8 says when an array or a WebAssembly memory cannot be allocated: its RangeErrors have no code. */
const ALLOCATION_FAILURES = [
  'Array buffer allocation failed',
  'WebAssembly.Memory(): could not allocate memory',
]

/** Whether the engine had no memory for an allocation. */
export function isAllocationFailure(error: unknown): error is RangeError {
  return error instanceof RangeError && ALLOCATION_FAILURES.some((text) => error.message.startsWith(text))
}
