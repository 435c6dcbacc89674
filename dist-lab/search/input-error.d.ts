export declare class InputError extends Error {
}
