import type { Profile } from './profiles.ts';
export interface Step {
    rule: string;
    does: string;
    before: string;
    after: string;
    changed: boolean;
    notes: string[];
}
/** The key and the steps to it. Where a rule finds no URL the steps end there and the key is the line as it stands. */
export declare function explainKey(profile: Profile, url: string): {
    key: string;
    isUrl: boolean;
    steps: Step[];
};
