// A stopwatch that adds up: what it has timed so far, whatever was done between.
export class Stopwatch {
    seconds = 0;
    /** Does the work, adds the time it took, and gives back its result. */
    time(work) {
        const start = performance.now();
        const result = work();
        this.seconds += (performance.now() - start) / 1000;
        return result;
    }
    /** Nanoseconds for each of `count`. */
    nsEach(count) {
        return (this.seconds * 1e9) / Math.max(1, count);
    }
}
