/** Bytes of heap that are in use once garbage is gone; null where the collector cannot be called. */
export declare function heapBytes(): number | null;
