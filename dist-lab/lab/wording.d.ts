import type { Interval } from '../interval.ts';
/** 3,500,000. */
export declare function count(value: number): string;
/** A share as a percentage with two significant digits or more: 0.043 %, 1.2 %, 100 %. */
export declare function percent(share: number): string;
/** A factor: 1.27, 43, 10,300. */
export declare function factor(value: number): string;
/** a, b and c. */
export declare function listed(parts: readonly string[]): string;
/** 0.021 % (0.019 % … 0.023 %). */
export declare function withInterval(rate: number, { lower, upper }: Interval): string;
