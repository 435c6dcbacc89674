// The syntax of a command, written as in the manual of Redis: `key seconds [NX | XX | GT | LT]`. Its arity, the places of its
// keys and the arguments that COMMAND DOCS reports follow from it. Lower case: a value, `n:integer` with its type; upper
// case: a word that is sent as it is; [a]: optional; <a | b>: one of them; a [a ...]: one or more times.
import { type Reply, Simple, Table } from './replies.ts'

export interface Argument {
  readonly name: string
  readonly type: string
  /** The word before the value, or the word itself. */
  readonly token?: string
  readonly isOptional?: boolean
  readonly isMultiple?: boolean
  /** Of a block, or the choices of `oneof`. */
  readonly parts?: readonly Argument[]
}

/** Places of the keys among the arguments, the command's name being 0. `last` -1: all arguments from `first` on. */
export interface KeyPlaces {
  readonly first: number
  readonly last: number
}

export interface Shape {
  /** Number of arguments including the name; negative: the minimum. */
  readonly arity: number
  readonly keys: KeyPlaces
  readonly args: readonly Argument[]
}

const KEYS = new Set(['key', 'newkey', 'name'])
const CLOSING: Readonly<Record<string, string>> = { '[': ']', '<': '>' }

/** `words`: the number of words before the arguments, 1 or, for a subcommand, 2. */
export function shapeOf(syntax: string, words = 1): Shape {
  const marks = syntax.match(/\.\.\.|[[\]<>|]|[^\s[\]<>|]+/g) ?? []
  const args = new Reader(marks).sequence()
  const least = args.reduce((sum, one) => sum + leastOf(one), words)
  return { args, arity: args.every(isFixed) ? least : -least, keys: keyPlaces(args, words) }
}

class Reader {
  readonly #marks: readonly string[]
  #at = 0

  constructor(marks: readonly string[]) {
    this.#marks = marks
  }

  // Up to the end, a closing bracket or a bar.
  sequence(): Argument[] {
    const found: Argument[] = []
    for (let mark = this.#marks[this.#at]; mark !== undefined; mark = this.#marks[this.#at]) {
      if (mark === ']' || mark === '>' || mark === '|') break
      const last = found.at(-1)
      if (last && this.#isRepetition(last)) {
        this.#at += 4 // [ name ... ]
        found[found.length - 1] = { ...last, isMultiple: true }
      } else found.push(this.#element())
    }
    return found
  }

  #isRepetition({ name }: Argument): boolean {
    const [open, again, dots] = this.#marks.slice(this.#at)
    return open === '[' && dots === '...' && again?.split(':')[0] === name
  }

  #element(): Argument {
    const mark = this.#marks[this.#at++]!
    if (mark in CLOSING) return this.#group(mark)
    if (mark !== mark.toUpperCase()) return readValue(mark)
    const next = this.#marks[this.#at]
    const isAlone = next === undefined || '[]<>|'.includes(next) || next === next.toUpperCase()
    if (isAlone) return { name: mark.toLowerCase(), type: 'pure-token', token: mark }
    this.#at++
    return { ...readValue(next), token: mark }
  }

  #group(open: string): Argument {
    const choices = [this.sequence()]
    while (this.#marks[this.#at] === '|') {
      this.#at++
      choices.push(this.sequence())
    }
    if (this.#marks[this.#at++] !== CLOSING[open]) throw new Error(`syntax: ${this.#marks.join(' ')}`)
    const isMultiple = choices[0]!.at(-1)?.token === '...'
    if (isMultiple) choices[0]!.pop()
    const parts = choices.map((choice) => (choice.length === 1 ? choice[0]! : blockOf(choice)))
    const all = parts.length === 1 ? parts[0]! : { name: nameOf(parts), type: 'oneof', parts }
    return open === '[' ? { ...all, isOptional: true, ...(isMultiple && { isMultiple }) } : all
  }
}

function readValue(mark: string): Argument {
  const [name = '', type = KEYS.has(name) ? 'key' : 'string'] = mark.split(':')
  return { name, type }
}

const nameOf = (parts: readonly Argument[]) => parts[0]!.name

const blockOf = (parts: readonly Argument[]): Argument => ({ name: nameOf(parts), type: 'block', parts })

function leastOf({ type, token, isOptional, parts = [] }: Argument): number {
  if (isOptional) return 0
  if (type === 'oneof') return Math.max(1, Math.min(...parts.map(leastOf)))
  if (type === 'block') return parts.reduce((sum, part) => sum + leastOf(part), 0)
  return type === 'pure-token' || token === undefined ? 1 : 2
}

function isFixed({ type, isOptional, isMultiple, parts = [] }: Argument): boolean {
  const isSame = type !== 'oneof' || parts.every((part) => leastOf(part) === leastOf(parts[0]!))
  return !isOptional && !isMultiple && isSame && parts.every(isFixed)
}

function keyPlaces(args: readonly Argument[], words: number): KeyPlaces {
  const first = args.findIndex(({ type }) => type === 'key')
  if (first < 0) return { first: 0, last: 0 }
  if (args[first]!.isMultiple) return { first: first + words, last: -1 }
  let last = first
  while (args[last + 1]?.type === 'key') last++
  return { first: first + words, last: last + words }
}

/** The arguments as COMMAND DOCS reports them. */
export function documentArguments(args: readonly Argument[]): Reply {
  return args.map(({ name, type, token, isOptional, isMultiple, parts }) => {
    const flags = [...(isOptional ? ['optional'] : []), ...(isMultiple ? ['multiple'] : [])]
    return new Table([
      ['name', name],
      ['type', type],
      ...(type === 'key' ? ([['key_spec_index', 0]] as const) : []),
      ...(token === undefined ? [] : ([['token', token]] as const)),
      ...(flags.length > 0 ? ([['flags', flags.map((flag) => new Simple(flag))]] as const) : []),
      ...(parts ? ([['arguments', documentArguments(parts)]] as const) : []),
    ])
  })
}

/** The syntax as people read it: without types. */
export const shownSyntax = (syntax: string) => syntax.replaceAll(/:[a-z]+/g, '')
