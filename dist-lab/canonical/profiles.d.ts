import { type Rule, type RuleName } from './rules.ts';
export type ProfileName = 'raw' | 'whatwg' | 'web' | 'crawlee' | 'scrapy' | 'aggressive';
export interface Profile {
    readonly name: string;
    readonly does: string;
    readonly rules: readonly Rule[];
}
export declare const profiles: Readonly<Record<ProfileName, Profile>>;
/** The profile of that name, or one made of your own list of rules. Throws a SieveError that names what is known. */
export declare function resolveProfile(choice: ProfileName | readonly (RuleName | Rule)[] | Profile): Profile;
/** The key of a URL, or null when a rule says it is none: such a line is keyed as it stands. */
export declare function keyOf(profile: Profile, url: string): string | null;
