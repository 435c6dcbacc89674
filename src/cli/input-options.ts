// The options of inputs that are not one URL per line, the same for every command that reads lists of URLs.
import { type Command, Option } from 'commander'
import { type FormatName, formatNames } from '../records/format.ts'
import { CommandError, EXIT } from './exit.ts'

export interface InputFlags {
  format?: FormatName
  field?: string
  extract?: boolean
  null?: boolean
  bareHosts?: boolean
}

/** How an input is read that is not one URL per line. */
export interface RecordInput {
  /** Absent: that of the file's name. */
  readonly format?: FormatName | 'lines'
  readonly field?: string
  /** Of plain lines. */
  readonly separator: 'newline' | 'nul'
  /** `example.com/a` stands for https://example.com/a. */
  readonly bareHosts: boolean
}

/** One URL per line, read as records. */
export const LINES: RecordInput = { format: 'lines', separator: 'newline', bareHosts: false }

export function withInputOptions(command: Command): Command {
  return command
    .optionsGroup('Input:')
    .addOption(
      new Option(
        '--format <name>',
        'what the input holds, if not one URL per line; by default as the file is named',
      ).choices(formatNames),
    )
    .option(
      '--field <name>',
      'the column of CSV, TSV or Parquet, by name or number, or the path in JSON lines: .request.url',
    )
    .option('--extract', 'every http:// or https:// address in a text')
    .option('-0, --null', 'lines end with a NUL byte instead of a newline, in the input and in the output')
    .option('--bare-hosts', 'read example.com/a as https://example.com/a; it is printed as it came')
    .optionsGroup('Options:')
}

/** What the flags describe; null: one URL per line. */
export function recordInput(flags: InputFlags): RecordInput | null {
  const { format, field, extract } = flags
  const one = extract ? '--extract' : '--null'
  const other = format ? '--format' : field !== undefined ? '--field' : '--extract'
  if ((extract && (format ?? field) !== undefined) || (flags.null && (format ?? field ?? extract))) {
    throw new CommandError(
      EXIT.usage,
      `${one} with ${one === other ? '--null' : other}: expected one of them`,
    )
  }
  const separator = flags.null ? 'nul' : 'newline'
  const bareHosts = flags.bareHosts ?? false
  if (format ?? field ?? extract) {
    const name = extract ? 'text' : format
    return { ...(name && { format: name }), ...(field !== undefined && { field }), separator, bareHosts }
  }
  return flags.null || bareHosts ? { format: 'lines', separator, bareHosts } : null
}

/** The first flag that asks for records, for messages. */
export function inputFlag(flags: InputFlags): string {
  if (flags.extract) return '--extract'
  if (flags.format) return '--format'
  if (flags.field !== undefined) return '--field'
  return flags.null ? '--null' : '--bare-hosts'
}
