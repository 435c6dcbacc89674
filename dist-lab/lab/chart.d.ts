import type { Plot as Sketch } from './experiment.ts';
export interface Size {
    readonly width: number;
    readonly height: number;
}
export declare function draw(sketch: Sketch, size: Size): string;
/** A swatch for each series; none where the names stand beside the bars. */
export declare function legend(sketch: Sketch): {
    name: string;
    swatch: string;
}[];
/** True when a count of zero is drawn at the foot of a logarithmic axis: the page says so. */
export declare function hasFoot({ kind, y, series }: Sketch): boolean;
