// Every command, loaded when it is named: running one does not load the others.
import type { Command } from 'commander'

type Register = (program: Command) => void

export const commands: Readonly<Record<string, () => Promise<Register>>> = {
  dedupe: async () => (await import('./dedupe.ts')).dedupeCommand,
  check: async () => (await import('./check.ts')).checkCommand,
  explain: async () => (await import('./explain.ts')).explainCommand,
  plan: async () => (await import('./plan.ts')).planCommand,
  shapes: async () => (await import('./shapes.ts')).shapesCommand,
  learn: async () => (await import('./learn.ts')).learnCommand,
  inspect: async () => (await import('./inspect.ts')).inspectCommand,
  verify: async () => (await import('./verify.ts')).verifyCommand,
  merge: async () => (await import('./merge.ts')).mergeCommand,
  export: async () => (await import('./export.ts')).exportCommand,
  forget: async () => (await import('./forget.ts')).forgetCommand,
  freeze: async () => (await import('./freeze.ts')).freezeCommand,
  under: async () => (await import('./under.ts')).underCommand,
  serve: async () => (await import('./serve.ts')).serveCommand,
  crawl: async () => (await import('./crawl.ts')).crawlCommand,
  lab: async () => (await import('./lab.ts')).labCommand,
  search: async () => (await import('./search.ts')).searchCommand,
  run: async () => (await import('./run.ts')).runCommand,
  completion: async () => (await import('./completion.ts')).completionCommand,
  manual: async () => (await import('./manual.ts')).manualCommand,
}

/** The headings of the help, with their commands. */
const groups: Readonly<Record<string, readonly string[]>> = {
  'Lists of URLs:': ['dedupe', 'check', 'explain', 'plan', 'shapes', 'learn'],
  'Stored sieves:': ['inspect', 'verify', 'merge', 'export', 'forget', 'freeze', 'under'],
  'Crawls:': ['serve', 'crawl'],
  'Research:': ['lab', 'search', 'run'],
}

/** The commands that a command line needs: the one it names, or all of them for help and mistakes. */
export async function registerCommands(program: Command, name: string | undefined): Promise<void> {
  const load =
    name !== undefined && Object.hasOwn(commands, name) ? [commands[name]!] : Object.values(commands)
  for (const register of await Promise.all(load.map((one) => one()))) register(program)
  for (const command of program.commands) {
    const group = Object.keys(groups).find((heading) => groups[heading]!.includes(command.name()))
    if (group) command.helpGroup(group)
  }
}
