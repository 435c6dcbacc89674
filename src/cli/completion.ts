// `urlsieve completion`: completes commands, options and their choices in bash, zsh and fish.
import { Argument, type Command } from 'commander'
import { Output } from './output.ts'
import { type CommandDescription, describeProgram, type OptionDescription } from './program-description.ts'

const scripts = { bash, zsh, fish } as const

export function completionCommand(program: Command): void {
  program
    .command('completion')
    .summary('print completions for bash, zsh or fish')
    .description('Prints a script that completes commands, options and their choices.')
    .addArgument(new Argument('<shell>', 'which shell').choices(Object.keys(scripts)))
    .addHelpText(
      'after',
      `
Examples:
  urlsieve completion bash > /etc/bash_completion.d/urlsieve
  urlsieve completion zsh > "\${fpath[1]}/_urlsieve"
  urlsieve completion fish > ~/.config/fish/completions/urlsieve.fish`,
    )
    .action(async (shell: keyof typeof scripts) => {
      new Output().print(scripts[shell](await describeProgram()))
    })
}

const names = (commands: readonly CommandDescription[]) => commands.map(({ name }) => name).join(' ')
/** A text in single quotes, for sh and fish. */
const quoted = (text: string) => `'${text.replaceAll("'", `'"'"'`)}'`
const hasChoices = ({ choices }: OptionDescription) => choices.length > 0

function bash(commands: readonly CommandDescription[]): string {
  const cases = commands.map(({ name, options }) => {
    const flags = options.flatMap((option) => option.flags).join(' ')
    const choices = options
      .filter(hasChoices)
      .map((option) => `      ${option.flags.join('|')}) words=${quoted(option.choices.join(' '))} ;;`)
    const files = options
      .filter((option) => option.argument !== null && !hasChoices(option))
      .flatMap((option) => option.flags)
    const other = files.length === 0 ? [] : [`      ${files.join('|')}) ;;`]
    return `  ${name})
    case $previous in
${[...choices, ...other, `      *) [[ $current == -* ]] && words=${quoted(flags)} ;;`].join('\n')}
    esac ;;`
  })
  return `# bash completion for urlsieve
_urlsieve() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD - 1]} words=
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    COMPREPLY=($(compgen -W ${quoted(`${names(commands)} help`)} -- "$current"))
    return
  fi
  case \${COMP_WORDS[1]} in
${cases.join('\n')}
  help) words=${quoted(`${names(commands)} filters`)} ;;
  esac
  if [[ $words ]]; then COMPREPLY=($(compgen -W "$words" -- "$current"))
  else COMPREPLY=($(compgen -f -- "$current")); fi
}
complete -o filenames -F _urlsieve urlsieve
`
}

function zsh(commands: readonly CommandDescription[]): string {
  const plain = (text: string) => text.replaceAll(/[[\]:\\]/g, (c) => `\\${c}`)
  const spec = ({ flags, argument, does, choices }: OptionDescription) => {
    const value =
      choices.length > 0 ? `:value:(${choices.join(' ')})` : argument === null ? '' : ':value:_files'
    return flags.map((flag) => `        ${quoted(`${flag}[${plain(does)}]${value}`)}`).join(' \\\n')
  }
  const cases = commands.map(
    ({ name, options }) =>
      `    ${name})\n      _arguments \\\n${[...options.map(spec), "        '*:file:_files'"].join(' \\\n')} ;;`,
  )
  return `#compdef urlsieve
_urlsieve() {
  if ((CURRENT == 2)); then
    local -a commands=(
${commands.map(({ name, summary }) => `      ${quoted(`${name}:${plain(summary)}`)}`).join('\n')}
    )
    _describe command commands
    return
  fi
  local command=$words[2]
  shift words
  ((CURRENT--))
  case $command in
${cases.join('\n')}
  esac
}
_urlsieve "$@"
`
}

function fish(commands: readonly CommandDescription[]): string {
  const first = `complete -c urlsieve -n '__fish_use_subcommand'`
  const lines = commands.flatMap(({ name, summary, options }) => [
    `${first} -f -a ${name} -d ${quoted(summary)}`,
    ...options.map(({ flags, argument, does, choices }) => {
      const spelled = flags.map((flag) =>
        flag.startsWith('--') ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`,
      )
      const value =
        choices.length > 0 ? ` -x -a ${quoted(choices.join(' '))}` : argument === null ? '' : ' -r'
      return `complete -c urlsieve -n '__fish_seen_subcommand_from ${name}' ${spelled.join(' ')} -d ${quoted(does)}${value}`
    }),
  ])
  return `# fish completion for urlsieve\n${lines.join('\n')}\n`
}
