import { type Profile } from './canonical/profiles.ts';
import type { Kernel } from './kernel.ts';
export declare class Keys {
    #private;
    /** Lines so far that are no URL: they are keyed as they stand. */
    invalid: number;
    constructor(profile: Profile);
    /** Gives each of the batch's n lines its key. */
    make(kernel: Kernel, n: number): void;
}
