// Options as people write them: found by a flag or a word, and read from text. Options that share a spelling are told
// apart by what is written: `--window 30d` is a time, `--window 10M` a number of URLs.
import { invalidOption } from '../errors.ts'
import type { FlagOption, SieveOption } from './option.ts'

/** The options by how they are spelled, in the order of the list. Each description is there once. */
export function bySpelling(
  options: readonly SieveOption[],
  spelling: (option: SieveOption) => string,
): Map<string, SieveOption[]> {
  const groups = new Map<string, SieveOption[]>()
  for (const option of options) {
    const group = groups.get(spelling(option)) ?? []
    if (!group.some(({ name }) => name === option.name)) group.push(option)
    groups.set(spelling(option), group)
  }
  return groups
}

/** The option that a text is for, and its value. Throws one line that names the spelling and what is expected. */
export function readOption(
  spelling: string,
  options: readonly FlagOption[],
  text: string,
): { readonly name: string; readonly value: unknown } {
  for (const { name, kind } of options) {
    const value = kind.read(text)
    if (value !== null) return { name, value }
  }
  throw invalidOption(spelling, text, options.map(({ kind }) => kind.expected).join(', or '))
}

/** The name of an option as an edge spells it; other names are as they are. */
export function spellWith(
  options: readonly SieveOption[],
  spelling: (option: SieveOption) => string,
  others: Readonly<Record<string, string>> = {},
): (name: string) => string {
  return (name) => {
    const option = options.find((one) => one.name === name)
    return option ? spelling(option) : (others[name] ?? name)
  }
}
