import type { FilterKind, FilterOptions, Plan } from './filter.ts';
/** The filter's plan for these options. */
export declare function planFor(kind: FilterKind, options: FilterOptions): Plan;
