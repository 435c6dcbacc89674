// The options of a command that runs for long, besides its flags: environment variables and a file of settings. A flag
// comes before a variable, a variable before the file, the file before the default.
import type { Command, Option } from 'commander'
import { SieveError } from '../errors.ts'
import { MiB, readWhole } from '../store/whole-file.ts'
import { CommandError, EXIT, reason } from './exit.ts'

const PREFIX = 'URLSIEVE_'
const FILE = 'config'
const TRUE = ['true', 'yes', 'on', '1']
const FALSE = ['false', 'no', 'off', '0']

type Setting = string | number | boolean

/** The name of the variable that sets an option: `--max-sieves` is URLSIEVE_MAX_SIEVES. */
export const variableOf = (option: Option) => PREFIX + option.name().toUpperCase().replaceAll('-', '_')

/** Adds `--config`, and reads the settings before the command runs. */
export function withSettings(command: Command): Command {
  return command
    .option(
      `--${FILE} <file>`,
      `settings as a JSON object, such as {"data": "sieves", "memory": "2G"}; every option can also be set by a variable: ${PREFIX}MAX_SIEVES for --max-sieves`,
    )
    .hook('preAction', (_, action) => applySettings(action, process.env))
}

function applySettings(command: Command, env: NodeJS.ProcessEnv): void {
  const options = command.options.filter((option) => !option.negate && option.name() !== FILE)
  const file = (command.opts()[FILE] as string | undefined) ?? env[`${PREFIX}${FILE.toUpperCase()}`]
  const settings = file ? readSettings(file, options) : new Map<string, Setting>()
  for (const option of options) {
    const name = option.attributeName()
    if (command.getOptionValueSource(name) === 'cli') continue
    const variable = env[variableOf(option)]
    const isSet = variable !== undefined && variable !== ''
    const value = isSet ? variable : settings.get(option.name())
    if (value === undefined) continue
    const source = isSet ? variableOf(option) : `${file}: ${option.name()}`
    const canBeOff = command.options.some((other) => other.negate && other.attributeName() === name)
    command.setOptionValueWithSource(name, readSetting(option, value, source, canBeOff), 'config')
  }
}

function readSettings(file: string, options: readonly Option[]): Map<string, Setting> {
  let text: string
  try {
    text = readWhole(file, MiB, { isStream: true }).toString()
  } catch (error) {
    throw new CommandError(EXIT.input, `${file}: ${reason(error)}`)
  }
  const settings = parseObject(file, text)
  const names = options.map((option) => option.name())
  for (const [name, value] of Object.entries(settings)) {
    if (!names.includes(name)) {
      throw new CommandError(EXIT.usage, `${file}: setting '${name}': expected one of ${names.join(', ')}`)
    }
    if (!['string', 'number', 'boolean'].includes(typeof value)) {
      throw new CommandError(
        EXIT.usage,
        `${file}: setting '${name}' is ${JSON.stringify(value)}: expected a text, a number, true or false`,
      )
    }
  }
  return new Map(Object.entries(settings) as [string, Setting][])
}

function parseObject(file: string, text: string): Record<string, unknown> {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new CommandError(EXIT.input, `${file}: not JSON: ${(error as Error).message.replaceAll('\n', ' ')}`)
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>
  throw new CommandError(EXIT.input, `${file}: expected a JSON object of settings, such as {"port": 6390}`)
}

function readSetting(option: Option, value: Setting, source: string, canBeOff: boolean): unknown {
  const text = String(value)
  const word = text.toLowerCase()
  if (option.isBoolean() || (canBeOff && FALSE.includes(word) && text !== '0')) {
    if (TRUE.includes(word)) return true
    if (FALSE.includes(word)) return false
    throw new CommandError(EXIT.usage, `${source} '${text}': expected true or false`)
  }
  if (option.argChoices && !option.argChoices.includes(text)) {
    throw new CommandError(EXIT.usage, `${source} '${text}': expected one of ${option.argChoices.join(', ')}`)
  }
  if (!option.parseArg || option.argChoices) return text
  try {
    return option.parseArg(text, undefined)
  } catch (error) {
    if (!(error instanceof CommandError || error instanceof SieveError)) throw error
    throw new CommandError(EXIT.usage, `${source}: ${error.message}`)
  }
}
