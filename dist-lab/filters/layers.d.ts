import type { Kernel } from '../kernel.ts';
import { type Filter, type FilterOptions, type Plan } from './filter.ts';
export declare const MOST_LAYERS = 64;
/** Numbers of kernel/filters/multilayer.ts. */
export declare const MODES: {
    readonly join: 0;
    readonly grow: 1;
    readonly words: 2;
};
export interface LayerShape {
    readonly layers: number;
    readonly mode: keyof typeof MODES;
    readonly bitsPerLayer: number;
}
export declare function planLayers(filter: string, options: FilterOptions, layers: number, mode: LayerShape['mode']): Plan;
export declare function createLayers(kernel: Kernel, plan: Plan): Filter;
