import { type Command } from 'commander';
export declare function dedupeCommand(program: Command): void;
