// The experiments, in the order of the report: the papers', then ours. A new one is a file and a line here.
import { SieveError } from '../errors.js';
import { baselines } from './experiments/baselines.js';
import { cen2010 } from './experiments/cen2010.js';
import { crawlLoss } from './experiments/crawl-loss.js';
import { equalMemory } from './experiments/equal-memory.js';
import { growth } from './experiments/growth.js';
import { hashes } from './experiments/hashes.js';
import { jiang } from './experiments/jiang.js';
import { sharma } from './experiments/sharma.js';
import { termProject } from './experiments/term-project.js';
import { urlCache } from './experiments/url-cache.js';
export const experiments = [
    cen2010,
    termProject,
    sharma,
    jiang,
    urlCache,
    baselines,
    equalMemory,
    hashes,
    crawlLoss,
    growth,
];
/** The experiments of these names, in the order named; all of them for no names. */
export function choose(names, from = experiments) {
    if (names.length === 0)
        return [...from];
    return [...new Set(names)].map((name) => {
        const found = from.find((experiment) => experiment.name === name);
        if (found)
            return found;
        const known = from.map((experiment) => experiment.name).join(', ');
        throw new SieveError('option', `no experiment '${name}': expected one of ${known}`);
    });
}
