/** Puts the items into a random order, in place. */
export declare function shuffle<T extends {
    length: number;
    [i: number]: unknown;
}>(items: T, random: () => number): T;
