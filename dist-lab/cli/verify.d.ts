import type { Command } from 'commander';
export declare function verifyCommand(program: Command): void;
