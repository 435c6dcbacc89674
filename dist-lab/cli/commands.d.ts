import type { Command } from 'commander';
type Register = (program: Command) => void;
export declare const commands: Readonly<Record<string, () => Promise<Register>>>;
/** The commands that a command line needs: the one it names, or all of them for help and mistakes. */
export declare function registerCommands(program: Command, name: string | undefined): Promise<void>;
export {};
