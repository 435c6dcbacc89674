import type { Command } from 'commander';
export declare function inspectCommand(program: Command): void;
