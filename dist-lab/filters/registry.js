// Every filter, by name. A new filter is one file in kernel/filters/, one here, and one line below: the command's
// choices, `plan`, the conformance suite, the statistics and the README's table follow from that line.
import { SieveError } from '../errors.js';
import { binaryFuse } from './binary-fuse.js';
import { blocked } from './blocked.js';
import { classic } from './classic.js';
import { eigenvalue } from './eigenvalue.js';
import { fingerprint } from './fingerprint.js';
import { hashSet } from './hash-set.js';
import { keywordLayers } from './keyword-layers.js';
import { linear } from './linear.js';
import { multilayer } from './multilayer.js';
import { prefixLayers } from './prefix-layers.js';
import { scalable } from './scalable.js';
import { sortedArray } from './sorted-array.js';
import { trie } from './trie.js';
import { window } from './window.js';
export const filters = {
    fingerprint,
    classic,
    blocked,
    multilayer,
    'prefix-layers': prefixLayers,
    eigenvalue,
    'keyword-layers': keywordLayers,
    scalable,
    window,
    'hash-set': hashSet,
    'sorted-array': sortedArray,
    linear,
    trie,
};
/** Filters that are made at once from another and only asked from then on: a file may hold one, `create` makes none. */
export const frozenFilters = { 'binary-fuse': binaryFuse };
export const filterNames = Object.keys(filters);
/** The filter of that name, frozen or not; one clear line when there is none. */
export function filterKind(name) {
    if (Object.hasOwn(filters, name))
        return filters[name];
    if (Object.hasOwn(frozenFilters, name))
        return frozenFilters[name];
    throw new SieveError('option', `unknown filter '${name}': expected one of ${filterNames.join(', ')}`);
}
