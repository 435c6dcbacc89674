import type { Command } from 'commander';
export declare function runCommand(program: Command): void;
