import type { Command } from 'commander';
export declare function underCommand(program: Command): void;
