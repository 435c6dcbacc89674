/** The ASCII form of a dotted name, or null where IDNA 2003 has none (an empty or overlong label, a mixed direction). */
export declare function toAscii(name: string): string | null;
/** RFC 3492, the encoding half, with its fixed parameters. */
export declare function punycode(text: string): string;
