export const commands = {
    dedupe: async () => (await import('./dedupe.js')).dedupeCommand,
    check: async () => (await import('./check.js')).checkCommand,
    plan: async () => (await import('./plan.js')).planCommand,
    explain: async () => (await import('./explain.js')).explainCommand,
    under: async () => (await import('./under.js')).underCommand,
    inspect: async () => (await import('./inspect.js')).inspectCommand,
    export: async () => (await import('./export.js')).exportCommand,
    forget: async () => (await import('./forget.js')).forgetCommand,
    merge: async () => (await import('./merge.js')).mergeCommand,
    verify: async () => (await import('./verify.js')).verifyCommand,
    search: async () => (await import('./search.js')).searchCommand,
    run: async () => (await import('./run.js')).runCommand,
    lab: async () => (await import('./lab.js')).labCommand,
};
/** The commands that a command line needs: the one it names, or all of them for help and mistakes. */
export async function registerCommands(program, name) {
    const load = name !== undefined && Object.hasOwn(commands, name) ? [commands[name]] : Object.values(commands);
    for (const register of await Promise.all(load.map((one) => one())))
        register(program);
}
