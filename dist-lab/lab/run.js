// Runs experiments one after the other and keeps a record of each: what was asked, over what, where, and the answer.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { csv } from './csv.js';
import { commandLine, provenance } from './provenance.js';
import { keyFrom, random } from './random.js';
import { UrlFileError, UrlSource } from './urls.js';
/** One after the other. What fails is noted and the others go on, unless the URLs themselves cannot be read. */
export async function run(options, watcher = {}) {
    const { experiments, files = [], tables = [], quick = false, seed = 1 } = options;
    const source = files.length > 0 ? await UrlSource.fromFiles(files) : await UrlSource.fromSeed(seed);
    const where = provenance();
    const records = [];
    const failures = [];
    let mostOfAll = 0;
    const started = performance.now();
    for (const [number, experiment] of experiments.entries()) {
        watcher.started?.(experiment, number);
        const from = performance.now();
        let most = 0;
        const lab = {
            quick,
            seed,
            tables,
            async urls(asked) {
                most = Math.max(most, asked);
                mostOfAll = Math.max(mostOfAll, most);
                return source.first(asked, () => watcher.progress?.(0, 'reading URLs'));
            },
            random: (name) => random(seed, name),
            key: (name) => keyFrom(seed, name),
            progress: (share, doing) => watcher.progress?.(share, doing),
        };
        try {
            const result = await experiment.run(lab);
            const { name, title, source: paper, asks } = experiment;
            const record = {
                experiment: name,
                title,
                source: paper,
                asks,
                ...where,
                command: repeat([name], options),
                seed,
                quick,
                data: source.data(most),
                tables,
                seconds: (performance.now() - from) / 1000,
                result,
            };
            records.push(record);
            watcher.finished?.(record);
        }
        catch (error) {
            if (error instanceof UrlFileError)
                throw error;
            const failure = { experiment: experiment.name, error };
            failures.push(failure);
            watcher.failed?.(failure);
        }
    }
    return {
        ...where,
        command: repeat(options.named ?? [], options),
        seed,
        quick,
        data: source.data(mostOfAll),
        seconds: (performance.now() - started) / 1000,
        records,
        failures,
    };
}
function repeat(names, { files = [], tables = [], quick, seed = 1 }) {
    return commandLine([
        ...['urlsieve', 'lab', ...names],
        ...(quick ? ['--quick'] : []),
        ...['--seed', String(seed)],
        ...(tables.length > 0 ? ['--csv', ...tables] : []),
        ...(files.length > 0 ? ['--urls', ...files] : []),
    ]);
}
/** Writes NAME.csv (the first table) and NAME.json (everything). */
export function writeRecord(folder, record) {
    mkdirSync(folder, { recursive: true });
    const [first] = record.result.tables;
    if (first)
        writeFileSync(join(folder, `${record.experiment}.csv`), csv(first));
    writeFileSync(join(folder, `${record.experiment}.json`), `${JSON.stringify(record, null, 2)}\n`);
}
