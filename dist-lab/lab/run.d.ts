import type { Experiment, Result } from './experiment.ts';
import { type Provenance } from './provenance.ts';
import { type Data } from './urls.ts';
export interface RunOptions {
    readonly experiments: readonly Experiment[];
    /** The experiments as the user named them; none: all there are. */
    readonly named?: readonly string[];
    /** Files of URLs; none: generated from the seed. */
    readonly files?: readonly string[];
    readonly tables?: readonly string[];
    readonly quick?: boolean;
    readonly seed?: number;
}
export interface ExperimentRecord extends Provenance {
    readonly experiment: string;
    readonly title: string;
    readonly source: string;
    readonly asks: string;
    /** Repeats this experiment alone, with the same counts. */
    readonly command: string;
    readonly seed: number;
    readonly quick: boolean;
    readonly data: Data;
    readonly tables: readonly string[];
    readonly seconds: number;
    readonly result: Result;
}
/** An experiment that threw: the others go on. */
export interface Failure {
    readonly experiment: string;
    readonly error: unknown;
}
export interface Run extends Provenance {
    readonly command: string;
    readonly seed: number;
    readonly quick: boolean;
    readonly data: Data;
    readonly seconds: number;
    readonly records: readonly ExperimentRecord[];
    readonly failures: readonly Failure[];
}
export interface Watcher {
    started?(experiment: Experiment, number: number): void;
    progress?(share: number, doing: string): void;
    finished?(record: ExperimentRecord): void;
    failed?(failure: Failure): void;
}
/** One after the other. What fails is noted and the others go on, unless the URLs themselves cannot be read. */
export declare function run(options: RunOptions, watcher?: Watcher): Promise<Run>;
/** Writes NAME.csv (the first table) and NAME.json (everything). */
export declare function writeRecord(folder: string, record: ExperimentRecord): void;
