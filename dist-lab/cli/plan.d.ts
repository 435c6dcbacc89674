import type { Command } from 'commander';
export declare function planCommand(program: Command): void;
