// The built-in rules: each takes one form of a key to the next. A lossy rule errs towards "seen": two different pages
// may get one key, and the second is then never fetched. The others only join spellings of the same request.
import { dropParameters, formParameters, sortParameters } from './parameters.js';
import { replaceParts } from './parts.js';
import { dropSessionsFromPath, isSession, isTracking } from './tracking.js';
import { canonicalizeLikeW3lib } from './w3lib.js';
const indexPage = /(?:\/(?:index|default)\.(?:[sx]?html?|php\d?|phtml|aspx?|jspx?|cfm|cgi|do|pl)\/*)+$/i;
const builtIn = {
    trim: {
        does: 'strips white space at both ends, Unicode’s too (JavaScript’s trim)',
        lossy: false,
        apply: (key) => key.trim(),
    },
    whatwg: {
        does: 'parses and writes the URL as browsers do (WHATWG URL)',
        lossy: false,
        apply: hrefOf,
    },
    'no-fragment': {
        does: 'cuts the fragment, which is never sent to a server',
        lossy: false,
        apply: (key) => (key.includes('#') ? replaceParts(key, () => ({ fragment: '' })) : key),
    },
    https: {
        does: 'takes http for https, and drops the default port',
        lossy: true,
        apply: (key) => key.replace(/^(http|https):\/\/([^/?#]*)/, secure),
    },
    'no-credentials': {
        does: 'drops user name and password',
        lossy: true,
        apply: (key) => replaceParts(key, ({ authority }) => ({ authority: authority.replace(/^\/\/.*@/s, '//') })),
    },
    'no-utm': {
        does: 'drops the parameters that start with utm_',
        lossy: true,
        apply: (key) => dropParameters(key, (name) => name.startsWith('utm_')),
    },
    'no-tracking': {
        does: 'drops campaign and click parameters: utm_*, gclid, fbclid, msclkid, mc_eid, …',
        lossy: true,
        apply: (key) => dropParameters(key, isTracking),
    },
    'no-session': {
        does: 'drops session identifiers: ;jsessionid=, PHPSESSID, sid, /(S(…))/, …',
        lossy: true,
        apply: (key) => replaceParts(dropParameters(key, isSession), ({ authority, path }) => authority === '' ? {} : { path: dropSessionsFromPath(path) }),
    },
    'no-www': {
        does: 'drops www. in front of a host',
        lossy: true,
        apply: (key) => key.replace(/^([^:/?#]+:\/\/(?:[^/?#]*@)?)(?:www\.)+(?=[^./?#:@]+\.[^./?#:@])/i, '$1'),
    },
    'no-index': {
        does: 'drops the name of an index page: index.html, index.php, default.aspx, …',
        lossy: true,
        apply: (key) => replaceParts(key, ({ authority, path }) => authority === '' ? {} : { path: path.replace(indexPage, '/') }),
    },
    'form-query': {
        does: 'decodes the query and writes it again as a form would (%20 is +, a is a=)',
        lossy: true,
        apply: formParameters,
    },
    'sort-query': {
        does: 'sorts the parameters by name',
        lossy: true,
        apply: sortParameters,
    },
    'no-empty-query': {
        does: 'drops a ? with nothing behind it',
        lossy: true,
        apply: (key) => replaceParts(key, ({ query }) => (query === '?' ? { query: '' } : {})),
    },
    'no-trailing-slash': {
        does: 'drops the slashes at the end of the path',
        lossy: true,
        apply: (key) => replaceParts(key, ({ authority, path }) => authority === '' ? {} : { path: path.replace(/\/+$/, '') }),
    },
    crawlee: {
        does: 'drops one slash at the end of the path and writes scheme://, as Crawlee’s unique key does',
        lossy: true,
        apply: writeLikeCrawlee,
    },
    w3lib: {
        does: 'canonicalises as Scrapy does (w3lib’s canonicalize_url)',
        lossy: true,
        apply: canonicalizeLikeW3lib,
    },
};
/** Every built-in rule by its name. */
export const rules = Object.freeze(Object.fromEntries(Object.entries(builtIn).map(([name, rule]) => [name, Object.freeze({ name, ...rule })])));
// Asking first spares the exception, which costs over ten times the parsing. But Node 20 and 22 misread Latin-1 text
// once canParse is hot (they say no to http://bücher.example), so only plain ASCII is asked about.
function hrefOf(key) {
    if (!/[^\0-\x7f]/.test(key))
        return URL.canParse(key) ? new URL(key).href : null;
    try {
        return new URL(key).href;
    }
    catch {
        return null;
    }
}
function secure(_, scheme, authority) {
    const port = scheme === 'http' ? /:(?:443|80)$/ : /:443$/;
    return `https://${authority.replace(port, '')}`;
}
function writeLikeCrawlee(key) {
    return replaceParts(key, ({ authority, path }) => ({
        authority: authority.toLowerCase() || '//',
        path: (authority === '' && path.startsWith('/.//') ? path.slice(2) : path).replace(/\/$/, ''),
    }));
}
