// Bytes of JavaScript objects, by asking the garbage collector to run first: for what keeps its keys in a Set.
import { memoryUsage } from 'node:process';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
/** Bytes of heap that are in use once garbage is gone; null where the collector cannot be called. */
export function heapBytes() {
    try {
        setFlagsFromString('--expose-gc');
        const collect = runInNewContext('gc');
        collect();
        collect();
        return memoryUsage().heapUsed;
    }
    catch {
        return null;
    }
}
