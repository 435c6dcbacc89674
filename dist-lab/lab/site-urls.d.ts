/** URL number i of a site; different numbers give different URLs. */
export type Template = (i: number) => string;
/** A template for each way that sites name their pages. `random` chooses where they start. */
export declare function siteTemplates(random: () => number): Readonly<Record<'counter' | 'dates' | 'ids', Template>>;
/** URLs with random letters for host and path; the number in base 26 at the end keeps them apart. */
export declare function unlikeUrls(random: () => number): Template;
/** URLs [0, count) of a template as newline-separated bytes, and where each begins. */
export declare function templateLines(template: Template, count: number): {
    bytes: Uint8Array;
    starts: Uint32Array;
};
