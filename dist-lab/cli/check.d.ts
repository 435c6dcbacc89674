import type { Command } from 'commander';
export declare function checkCommand(program: Command): void;
