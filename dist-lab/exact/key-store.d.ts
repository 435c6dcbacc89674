import { type KeyRange } from './key-layout.ts';
export declare class KeyStore {
    #private;
    readonly path: string;
    private constructor();
    /** With `repair`, what is damaged in its logs is left out instead of refused. */
    static open(path: string, repair: boolean): Promise<KeyStore>;
    /** What the store knows of itself; undefined when it is new. */
    meta(): Promise<Buffer | undefined>;
    /** For each key whether it is there. */
    hasMany(keys: readonly Buffer[]): Promise<boolean[]>;
    /** Puts and deletes, all or none. With `sync` they are on the disk when it returns, else handed to the system. */
    write(puts: readonly Buffer[], dels: readonly Buffer[], sync: boolean, meta?: Buffer): Promise<void>;
    /** Keys in order, some at a time, as they were when the first were asked for. */
    keys(range?: KeyRange): AsyncGenerator<Buffer[]>;
    /** Deletes every key. */
    clear(): Promise<void>;
    /**
     * Puts all that was written on the disk. LevelDB's own sync reaches its newest log only, and a log it has just
     * left is on the disk no sooner than its table: so each log is synced here.
     */
    sync(): Promise<void>;
    close(): Promise<void>;
}
