/** What is HTML already: everything else that goes into `html` is escaped. */
export declare class Html {
    readonly text: string;
    constructor(text: string);
    toString(): string;
}
export declare function escaped(text: string): string;
type Part = string | number | Html | readonly Html[] | null | undefined | false;
export declare function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html;
export declare function page(title: string, description: string, body: Html): string;
export {};
