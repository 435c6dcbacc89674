// The key Scrapy's duplicate filter uses: w3lib.url.canonicalize_url(url, keep_fragments=False) of w3lib 2.1.1 over
// Python 3.11's urllib.parse. Not the WHATWG standard: ports and dot segments stay, backslashes are no slashes.
import { toAscii } from './idna2003.js';
/** The canonical form, or null where Python raises ValueError. Not idempotent: `%2541` becomes `%41`, then `A`. */
export function canonicalizeLikeW3lib(url) {
    const text = url.replace(/^[\0- ]+|[\0- ]+$/g, '').replace(/[\t\n\r]/g, '');
    if (/\p{Surrogate}/u.test(text))
        return null;
    const parts = splitLikePython(text);
    if (parts === null)
        return null;
    const netloc = (toAsciiNetloc(parts.netloc) ?? parts.netloc).toLowerCase().replace(/:+$/, '');
    const path = requotePath(quote(parts.path, unsafeInPath)) || '/';
    return unsplit(parts.scheme, netloc, path, quote(parts.params, unsafe), sortQuery(quote(parts.query, unsafe)));
}
// urllib.parse.urlparse, without the fragment.
function splitLikePython(url) {
    const schemed = /^([A-Za-z][A-Za-z0-9+.-]*):/.exec(url);
    const scheme = schemed ? schemed[1].toLowerCase() : '';
    let rest = schemed ? url.slice(schemed[0].length) : url;
    let netloc = '';
    if (rest.startsWith('//')) {
        netloc = /^\/\/[^/?#]*/.exec(rest)[0].slice(2);
        rest = rest.slice(netloc.length + 2);
        if (!bracketsAreAnAddress(netloc) || hidesADelimiter(netloc))
            return null;
    }
    const [beforeFragment] = cutAt(rest, '#');
    const [wholePath, query] = cutAt(beforeFragment, '?');
    if (!schemesWithParams.has(scheme))
        return { scheme, netloc, path: wholePath, params: '', query };
    const semicolon = wholePath.indexOf(';', Math.max(wholePath.lastIndexOf('/'), 0));
    if (semicolon < 0)
        return { scheme, netloc, path: wholePath, params: '', query };
    const path = wholePath.slice(0, semicolon);
    return { scheme, netloc, path, params: wholePath.slice(semicolon + 1), query };
}
// urllib.parse.urlunsplit.
function unsplit(scheme, netloc, path, params, query) {
    let url = params === '' ? path : `${path};${params}`;
    if (netloc !== '' || (schemesWithNetloc.has(scheme) && !url.startsWith('//'))) {
        url = `//${netloc}${url.startsWith('/') ? '' : '/'}${url}`;
    }
    return (scheme === '' ? '' : `${scheme}:`) + url + (query === '' ? '' : `?${query}`);
}
const schemesWithParams = new Set([
    '',
    ...'ftp hdl prospero http imap https shttp rtsp rtspu sip sips mms sftp tel'.split(' '),
]);
const schemesWithNetloc = new Set(`ftp http gopher nntp telnet imap wais file mms https shttp snews prospero rtsp rtspu rsync svn svn+ssh sftp nfs
   git git+ssh ws wss`.split(/\s+/));
// Brackets in a netloc must hold an IPv6 address (perhaps with a zone) or an IPvFuture one, and nothing beside it.
function bracketsAreAnAddress(netloc) {
    if (!netloc.includes('[') && !netloc.includes(']'))
        return true;
    if (!netloc.includes('[') || !netloc.includes(']'))
        return false;
    const host = netloc.slice(netloc.lastIndexOf('@') + 1);
    const [before, bracketed] = cutAt(host, '[');
    if (!host.includes('['))
        return isAddress(cutAt(host, ':')[0]);
    const [address, after] = cutAt(bracketed, ']');
    return before === '' && (after === '' || after.startsWith(':')) && isAddress(address);
}
function isAddress(host) {
    if (host.startsWith('v'))
        return /^v[a-fA-F0-9]+\..+$/s.test(host);
    const [address, zone] = cutAt(host, '%');
    if (host.includes('%') && (zone === '' || zone.includes('%')))
        return false;
    return /^[0-9a-fA-F:.]+$/.test(address) && URL.canParse(`http://[${address}]/`);
}
// A character such as U+2100 turns into one with a delimiter in it (a/c) once normalised.
function hidesADelimiter(netloc) {
    if (!/[^\0-\x7f]/.test(netloc))
        return false;
    const bare = netloc.replace(/[@:#?]/g, '');
    const normal = bare.normalize('NFKC');
    return normal !== bare && /[/?#@:]/.test(normal);
}
// w3lib encodes the netloc whole: credentials and port are part of the first and the last label.
function toAsciiNetloc(netloc) {
    return /[^\0-\x7f]/.test(netloc) ? toAscii(netloc) : netloc;
}
const unsafe = /[^A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=|%]/gu;
const unsafeInPath = /[^A-Za-z0-9\-._~:/?[\]@!$&'()*+,;=|%]/gu;
const unsafeInForm = /[^A-Za-z0-9\-._~]/g;
const percent = (byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
// urllib.parse.quote of the text's UTF-8 bytes.
function quote(text, unwanted) {
    return text.replace(unwanted, (c) => (c < '\x80' ? percent(c.charCodeAt(0)) : encodeURIComponent(c)));
}
// Decodes what the path need not have encoded and writes the rest in capitals; %2F and %3F stay as they are.
function requotePath(path) {
    return path.replace(/%([0-9a-f]{2})/gi, (escaped, hex) => {
        if (/^[23]f$/i.test(hex))
            return escaped.toUpperCase();
        const byte = Number.parseInt(hex, 16);
        return byte < 0x80 ? quote(String.fromCharCode(byte), unsafeInPath) : escaped.toUpperCase();
    });
}
// Pairs cut at & and ;, sorted as bytes by name and then value, written as a form. Characters here are bytes.
function sortQuery(query) {
    const pairs = query
        .split(/[&;]/)
        .filter((pair) => pair !== '')
        .map((pair) => cutAt(pair, '=').map(unquote));
    pairs.sort(([a, x], [b, y]) => (a < b ? -1 : a > b ? 1 : x < y ? -1 : x > y ? 1 : 0));
    return pairs.map(([name, value]) => `${quotePlus(name)}=${quotePlus(value)}`).join('&');
}
const unquote = (text) => text
    .replaceAll('+', ' ')
    .replace(/%([0-9a-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
const quotePlus = (bytes) => bytes.replace(unsafeInForm, (c) => (c === ' ' ? '+' : percent(c.charCodeAt(0))));
function cutAt(text, delimiter) {
    const at = text.indexOf(delimiter);
    return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + delimiter.length)];
}
