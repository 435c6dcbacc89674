// What urlsieve throws on purpose: one line that says what it got, what it expected and what to do.
export class SieveError extends Error {
    code;
    constructor(code, message) {
        super(message);
        this.name = 'SieveError';
        this.code = code;
    }
}
