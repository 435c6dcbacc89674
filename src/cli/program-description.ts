// The commands and their options as data: what completions and the manual are generated from.
import { Command, type Option } from 'commander'
import { commands, registerCommands } from './commands.ts'

/** Run by the build, not by users. */
export const UNLISTED = 'manual'

export interface OptionDescription {
  /** `--filter`, `-o`: long form first. */
  readonly flags: readonly string[]
  /** `<name>` as the help shows it, or none for a switch. */
  readonly argument: string | null
  readonly does: string
  readonly choices: readonly string[]
  readonly defaultText: string | null
}

export interface CommandDescription {
  readonly name: string
  readonly summary: string
  readonly description: string
  /** `[files...]` as the help shows it. */
  readonly usage: string
  readonly options: readonly OptionDescription[]
}

export async function describeProgram(): Promise<CommandDescription[]> {
  const program = new Command('urlsieve')
  await registerCommands(program, undefined)
  const order = Object.keys(commands)
  return program.commands
    .filter((command) => command.name() !== UNLISTED)
    .toSorted((a, b) => order.indexOf(a.name()) - order.indexOf(b.name()))
    .map((command) => ({
      name: command.name(),
      summary: command.summary() || command.description(),
      description: command.description(),
      usage: command.registeredArguments.map(shownArgument).join(' '),
      options: command.options.filter((option) => !option.hidden).map(describeOption),
    }))
}

interface Argument {
  name(): string
  readonly required: boolean
  readonly variadic: boolean
}

function shownArgument(argument: Argument): string {
  const name = argument.name() + (argument.variadic ? '...' : '')
  return argument.required ? `<${name}>` : `[${name}]`
}

function describeOption(option: Option): OptionDescription {
  const { defaultValue } = option
  const hasDefault = defaultValue !== undefined && defaultValue !== false
  return {
    flags: [option.long, option.short].filter((flag) => flag !== undefined && flag !== null),
    argument: /(<.+>|\[.+\])$/.exec(option.flags)?.[1] ?? null,
    does: option.description,
    choices: option.argChoices ?? [],
    defaultText: hasDefault ? (option.defaultValueDescription ?? String(defaultValue)) : null,
  }
}
