// What is wrong with a table, a document or an index file: one line with what was found and what was expected.
export class InputError extends Error {
}
