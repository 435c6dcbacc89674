const COLON = 0x3a;
const SLASH = 0x2f;
const QUESTION = 0x3f;
const HASH = 0x23;
const latin1 = new TextDecoder('latin1');
function hostOf(bytes, start, end) {
    let from = start;
    for (let p = start; p + 2 < end; p++) {
        if (bytes[p] === SLASH)
            break;
        if (bytes[p] !== COLON)
            continue;
        if (bytes[p + 1] === SLASH && bytes[p + 2] === SLASH)
            from = p + 3;
        break;
    }
    let to = from;
    while (to < end && bytes[to] !== SLASH && bytes[to] !== QUESTION && bytes[to] !== HASH)
        to++;
    return latin1.decode(bytes.subarray(from, to)).toLowerCase();
}
export function sitesOf({ bytes, starts, ends, count }) {
    const names = [];
    const counts = [];
    const of = new Uint32Array(count);
    const numbers = new Map();
    for (let i = 0; i < count; i++) {
        const host = hostOf(bytes, starts[i], ends[i]);
        let site = numbers.get(host);
        if (site === undefined) {
            site = names.length;
            numbers.set(host, site);
            names.push(host);
            counts.push(0);
        }
        of[i] = site;
        counts[site]++;
    }
    return { names, of, counts };
}
/** URL numbers of the site with the most URLs, in the list's order, and its name. */
export function largestSite(list) {
    const { names, of, counts } = sitesOf(list);
    let largest = 0;
    for (let site = 1; site < counts.length; site++)
        if (counts[site] > counts[largest])
            largest = site;
    const urls = new Uint32Array(counts[largest] ?? 0);
    let n = 0;
    for (let i = 0; i < list.count; i++)
        if (of[i] === largest)
            urls[n++] = i;
    return { name: names[largest] ?? '', urls };
}
