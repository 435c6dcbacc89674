/** Takes the lock or throws one line that names who has it. Returns what gives it back. */
export declare function takeLock(path: string): () => void;
