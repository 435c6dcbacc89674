// The parameters of a query, as the server's form decoder names them (WHATWG URL, application/x-www-form-urlencoded),
// kept in the spelling they came in.
import { replaceParts } from './parts.js';
/** The decoded name of `name=value`. */
export function parameterName(parameter) {
    const end = parameter.indexOf('=');
    const name = end < 0 ? parameter : parameter.slice(0, end);
    if (!/[%+]/.test(name))
        return name;
    for (const decoded of new URLSearchParams(`?${name}`).keys())
        return decoded;
    return '';
}
/** The query's parameters as written; empty ones (`a&&b`) are none. */
export function parametersOf(query) {
    return query
        .slice(1)
        .split('&')
        .filter((parameter) => parameter !== '');
}
/** The key without the parameters whose name is unwanted; a query that loses its last one goes with its `?`. */
export function dropParameters(key, unwanted) {
    if (!key.includes('?'))
        return key;
    return replaceParts(key, ({ query }) => {
        const all = parametersOf(query);
        const kept = all.filter((parameter) => !unwanted(parameterName(parameter)));
        if (kept.length === all.length)
            return {};
        return { query: kept.length > 0 ? `?${kept.join('&')}` : '' };
    });
}
/** The key with its parameters in the order of their names; those of one name keep their order. */
export function sortParameters(key) {
    if (!key.includes('?'))
        return key;
    return replaceParts(key, ({ query }) => {
        if (query === '')
            return {};
        const named = parametersOf(query).map((parameter) => ({ parameter, name: parameterName(parameter) }));
        named.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
        return { query: `?${named.map(({ parameter }) => parameter).join('&')}` };
    });
}
/** The key with its query decoded and written again as a browser submits a form. */
export function formParameters(key) {
    if (!key.includes('?'))
        return key;
    return replaceParts(key, ({ query }) => {
        const form = new URLSearchParams(query).toString();
        return { query: form === '' ? '' : `?${form}` };
    });
}
