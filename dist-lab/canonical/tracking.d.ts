export declare function isTracking(name: string): boolean;
export declare function isSession(name: string): boolean;
/** The path without `;jsessionid=…` and ASP.NET's `/(S(…))/`; never leaves a dot segment that was none before. */
export declare function dropSessionsFromPath(path: string): string;
