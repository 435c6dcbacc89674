import type { Command } from 'commander';
export declare function exportCommand(program: Command): void;
