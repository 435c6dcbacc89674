import type { Command } from 'commander';
export declare function mergeCommand(program: Command): void;
