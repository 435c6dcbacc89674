export type SieveErrorCode = 
/** An option, or a combination of options, that cannot be. */
'option'
/** The machine, or one WebAssembly memory, has no room for what was asked. */
 | 'room'
/** A file that is not what was written: damaged, or no sieve at all. */
 | 'corrupt'
/** A file of a format version this urlsieve does not read. */
 | 'version'
/** Another process is writing there. */
 | 'locked'
/** The disk is full, read-only or broken. */
 | 'disk';
export declare class SieveError extends Error {
    readonly code: SieveErrorCode;
    constructor(code: SieveErrorCode, message: string);
}
