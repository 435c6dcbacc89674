/** The decoded name of `name=value`. */
export declare function parameterName(parameter: string): string;
/** The query's parameters as written; empty ones (`a&&b`) are none. */
export declare function parametersOf(query: string): string[];
/** The key without the parameters whose name is unwanted; a query that loses its last one goes with its `?`. */
export declare function dropParameters(key: string, unwanted: (name: string) => boolean): string;
/** The key with its parameters in the order of their names; those of one name keep their order. */
export declare function sortParameters(key: string): string;
/** The key with its query decoded and written again as a browser submits a form. */
export declare function formParameters(key: string): string;
