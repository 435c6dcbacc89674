import type { Command } from 'commander';
export declare function labCommand(program: Command): void;
