// What an option is: its name, its kind of value, and how the command and the server spell it. The types of the library,
// the flags, the words of SIEVE.CREATE, the HTTP schema and the tables in the docs all follow from these descriptions.
import { invalidOption } from '../errors.ts'
import { count, duration, type Quantity, rate, size } from '../quantities.ts'
import type { OptionDocs } from './option-docs.ts'

/** A kind of value: checked where the library takes it, read from text where people write it. */
export interface Kind<T> extends Quantity<unknown> {
  /** The kind in a table of options. */
  readonly label: string
  /** The value in a usage line: `--urls <n>`. */
  readonly placeholder: string
  /** What the library accepts, for messages. */
  readonly valid: string
  isValid(value: unknown): value is T
  /** JSON Schema of the values that a request can hold. */
  readonly schema: object
}

/** An option of the library that the command has as a flag. */
export interface FlagOption<N extends string = string, T = unknown> {
  readonly name: N
  readonly kind: Kind<T>
  /** What it sets, in one line. */
  readonly does: string
  /** The value when it is left out, for the docs. */
  readonly default?: string
  /** The flag of the command; options that share one are told apart by what is written. */
  readonly flag: string
}

/** An option of a sieve. */
export interface SieveOption<N extends string = string, T = unknown> extends FlagOption<N, T> {
  /** The word of SIEVE.CREATE. */
  readonly word: string
  /** A value for the examples in the help. */
  readonly example?: string
}

/** The type of an option's value. */
export type ValueOf<O> = O extends FlagOption<string, infer T> ? T : never

/** An object that holds the options of a list, each with its doc comment. */
export type OptionsOf<L extends readonly SieveOption[]> = Documented<
  OptionDocs,
  L[number]['name'] & keyof OptionDocs,
  L
>

// A property has the doc comment that it has in D, because N is constrained to the keys of a type parameter.
type Documented<D, N extends keyof D, L extends readonly SieveOption[]> = {
  readonly [O in N]?: ValueOf<Extract<L[number], { readonly name: O }>> | undefined
}

/** An object that holds options of a list that has no doc comments. */
export type FlagOptionsOf<L extends readonly FlagOption[]> = {
  readonly [O in L[number] as O['name']]?: ValueOf<O> | undefined
}

/** A whole number from `least` to `most`. */
export function wholeNumber(
  least: number,
  most = Number.MAX_SAFE_INTEGER,
  mostShown = String(most),
): Kind<number> {
  const valid =
    most === Number.MAX_SAFE_INTEGER
      ? `a whole number of at least ${least}`
      : `a whole number from ${least} to ${mostShown}`
  return {
    ...count,
    label: 'whole number',
    placeholder: '<n>',
    valid,
    isValid: (value): value is number =>
      Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most,
    schema: {
      type: 'integer',
      minimum: least,
      ...(most < Number.MAX_SAFE_INTEGER && { maximum: most }),
    },
  }
}

export const rateKind: Kind<number> = {
  ...rate,
  label: 'rate',
  placeholder: '<rate>',
  valid: 'a number between 0 and 1',
  isValid: (value): value is number => typeof value === 'number' && value > 0 && value < 1,
  schema: { type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 1 },
}

export const sizeKind: Kind<number> = {
  ...wholeNumber(64),
  ...size,
  label: 'bytes',
  placeholder: '<size>',
}

export const durationKind: Kind<number> = {
  ...duration,
  label: 'milliseconds',
  placeholder: '<time>',
  valid: 'a time in milliseconds over 0',
  isValid: (value): value is number => typeof value === 'number' && value > 0,
  schema: { type: 'number', exclusiveMinimum: 0 },
}

/** One of some names. */
export function choice<const N extends string>(names: readonly N[]): Kind<N> {
  const expected = `one of ${names.join(', ')}`
  return {
    label: 'name',
    placeholder: '<name>',
    expected,
    valid: expected,
    // Which names there are depends on the filter: its plan checks them.
    read: (text) => text,
    isValid: (value): value is N => (names as readonly unknown[]).includes(value),
    schema: { enum: names },
  }
}

/** One of some names, or a function of the caller's: the function is for the library only. */
export function choiceOrFunction<const N extends string, F extends (...args: never[]) => unknown>(
  names: readonly N[],
): Kind<N | F> {
  const byName = choice(names)
  return {
    ...byName,
    label: 'name or function',
    valid: `${byName.valid}, or a function`,
    isValid: (value): value is N | F => typeof value === 'function' || byName.isValid(value),
  }
}

/** Throws for a value that is given and invalid. */
export function checkOption({ name, kind }: FlagOption, value: unknown): void {
  if (value !== undefined && !kind.isValid(value)) throw invalidOption(name, value, kind.valid)
}

/** How an option is spelled: `--urls <n>`. */
export const usage = ({ flag, kind }: Pick<FlagOption, 'flag' | 'kind'>) => `${flag} ${kind.placeholder}`
