// Every command, loaded when it is named: running one does not load the others.
import type { Command } from 'commander'

type Register = (program: Command) => void

export const commands: Readonly<Record<string, () => Promise<Register>>> = {
  dedupe: async () => (await import('./dedupe.ts')).dedupeCommand,
  check: async () => (await import('./check.ts')).checkCommand,
  plan: async () => (await import('./plan.ts')).planCommand,
  explain: async () => (await import('./explain.ts')).explainCommand,
  under: async () => (await import('./under.ts')).underCommand,
  inspect: async () => (await import('./inspect.ts')).inspectCommand,
  export: async () => (await import('./export.ts')).exportCommand,
  forget: async () => (await import('./forget.ts')).forgetCommand,
  merge: async () => (await import('./merge.ts')).mergeCommand,
  verify: async () => (await import('./verify.ts')).verifyCommand,
  freeze: async () => (await import('./freeze.ts')).freezeCommand,
  shapes: async () => (await import('./shapes.ts')).shapesCommand,
  search: async () => (await import('./search.ts')).searchCommand,
  run: async () => (await import('./run.ts')).runCommand,
  serve: async () => (await import('./serve.ts')).serveCommand,
  crawl: async () => (await import('./crawl.ts')).crawlCommand,
  completion: async () => (await import('./completion.ts')).completionCommand,
  manual: async () => (await import('./manual.ts')).manualCommand,
  lab: async () => (await import('./lab.ts')).labCommand,
}

/** The commands that a command line needs: the one it names, or all of them for help and mistakes. */
export async function registerCommands(program: Command, name: string | undefined): Promise<void> {
  const load =
    name !== undefined && Object.hasOwn(commands, name) ? [commands[name]!] : Object.values(commands)
  for (const register of await Promise.all(load.map((one) => one()))) register(program)
}
