import type { Run } from './run.ts';
export declare function report(run: Run): string;
