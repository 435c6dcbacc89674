// `urlsieve manual`: the manual page, generated from the descriptions that the help texts are made of. The build writes
// it to dist/man/urlsieve.1.
import { createRequire } from 'node:module'
import type { Command } from 'commander'
import { Output } from './output.ts'
import {
  type CommandDescription,
  describeProgram,
  type OptionDescription,
  UNLISTED,
} from './program-description.ts'

export function manualCommand(program: Command): void {
  program
    .command(UNLISTED, { hidden: true })
    .description('Prints the manual page: urlsieve manual | man -l -')
    .action(async () => {
      const { version } = createRequire(import.meta.url)('../../package.json') as { version: string }
      new Output().print(manual(await describeProgram(), version))
    })
}

const EXIT_CODES = [
  ['0', 'done'],
  ['1', 'answered with no'],
  ['2', 'bad option'],
  ['3', 'bad input'],
  ['4', 'cannot write'],
  ['5', 'no memory'],
  ['6', 'unreadable lines'],
] as const

/** Text as roff takes it: backslashes and hyphens spelled out, no line that begins as a request. */
const plain = (text: string) =>
  text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll(/^([.'])/gm, '\\&$1')

function manual(commands: readonly CommandDescription[], version: string): string {
  return `${[
    `.TH URLSIEVE 1 "" "urlsieve ${version}" "User Commands"`,
    '.SH NAME',
    'urlsieve \\- have I seen this URL? Removes repeated URLs, plans filters, explains keys, serves sieves',
    '.SH SYNOPSIS',
    ...commands.flatMap(({ name, usage }) => [
      `.B urlsieve ${name}`,
      plain(`[options] ${usage}`.trim()),
      '.br',
    ]),
    '.SH DESCRIPTION',
    plain(
      'A crawler asks for every link it finds whether it has seen that URL. urlsieve answers: for a list (dedupe), a stored sieve (--state), many clients (serve), or a whole site (crawl).',
    ),
    '.SH COMMANDS',
    ...commands.flatMap(section),
    '.SH EXIT STATUS',
    ...EXIT_CODES.flatMap(([code, means]) => ['.TP', `.B ${code}`, means]),
    '.SH EXAMPLES',
    '.nf',
    plain('urlsieve dedupe links.txt > unique.txt'),
    plain('urlsieve dedupe --state seen.sieve today.txt > new-today.txt'),
    plain('urlsieve serve --data sieves'),
    '.fi',
  ].join('\n')}\n`
}

function section({ name, description, usage, options }: CommandDescription): string[] {
  return [
    `.SS "urlsieve ${name} ${plain(usage)}"`.replace(/ "$/, '"'),
    plain(description),
    ...options.flatMap(optionParagraph),
  ]
}

function optionParagraph({ flags, argument, does, choices, defaultText }: OptionDescription): string[] {
  const title = `.TP\n.B ${plain(flags.join(', ') + (argument === null ? '' : ` ${argument}`))}`
  const notes = [
    ...(choices.length > 0 ? [`one of ${choices.join(', ')}`] : []),
    ...(defaultText === null ? [] : [`default: ${defaultText}`]),
  ]
  return [title, plain(notes.length > 0 ? `${does} (${notes.join('; ')})` : does)]
}
