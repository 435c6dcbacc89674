import type { Command } from 'commander';
export declare function explainCommand(program: Command): void;
