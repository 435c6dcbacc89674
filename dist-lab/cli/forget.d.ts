import type { Command } from 'commander';
export declare function forgetCommand(program: Command): void;
