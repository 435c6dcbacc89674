// A plot as SVG text, drawn by Observable Plot in a document without a browser. Colours are the page's variables, so
// one drawing serves light, dark and paper. Series differ by colour, marker and dash; what a paper printed is hollow.
import * as Plot from '@observablehq/plot';
import { parseHTML } from 'linkedom';
import { tick } from './cells.js';
const { document } = parseHTML('<!doctype html><html lang="en"><body></body></html>');
const FONT_PX = 13;
const LETTER_PX = 6.7;
const SYMBOLS = ['circle', 'square2', 'triangle', 'diamond', 'star', 'wye', 'cross', 'hexagon'];
const DASHES = ['none', '7 3', '2 3', '9 3 2 3', '12 4', '4 2', '1 2', '6 2 1 2 1 2'];
const COLOURS = SYMBOLS.length;
/** The end of an interval's bar. */
const CAP = {
    draw(context, size) {
        const half = Math.sqrt(size / Math.PI);
        context.moveTo(-half, 0);
        context.lineTo(half, 0);
    },
};
/** A printed series looks like the measured one that shares its name up to the comma: `classic, printed`. */
function looks(series) {
    const own = new Map();
    for (const { name, printed } of series)
        if (!printed)
            own.set(name, own.size);
    let next = own.size;
    return series.map(({ name, printed = false }) => {
        const like = [...own.keys()].find((other) => printed && stem(other) === stem(name));
        const i = own.get(printed ? (like ?? '') : name) ?? next++;
        return {
            colour: `var(--series-${(i % COLOURS) + 1})`,
            // From the ninth on colours come again, with other markers and dashes.
            symbol: SYMBOLS[(i + 3 * Math.floor(i / COLOURS)) % COLOURS],
            dash: printed ? '1 4' : DASHES[(i + Math.floor(i / COLOURS)) % COLOURS],
            hollow: printed,
        };
    });
}
function stem(name) {
    return name
        .toLowerCase()
        .replace(/[,(:].*| (?:in the paper|printed).*/s, '')
        .trim();
}
/** Bars of one value each, drawn lying with their names beside them: they need no legend. */
function isList({ kind, series }) {
    return kind === 'bar' && series.every(({ points }) => points.length <= 1);
}
export function draw(sketch, size) {
    const options = sketch.kind === 'line' ? lines(sketch, size) : isList(sketch) ? list(sketch, size) : groups(sketch, size);
    return svg({ ...options, width: size.width });
}
/** A swatch for each series; none where the names stand beside the bars. */
export function legend(sketch) {
    if (isList(sketch))
        return [];
    const all = looks(sketch.series);
    return sketch.series.map(({ name }, s) => {
        const look = all[s];
        const ends = [
            { x: 0, y: 0 },
            { x: 2, y: 0 },
        ];
        const marks = sketch.kind === 'bar'
            ? [Plot.rect([0], { x1: 0.5, x2: 1.5, y1: -1, y2: 1, ...filled(look) })]
            : [
                Plot.line(ends, {
                    x: 'x',
                    y: 'y',
                    stroke: look.colour,
                    strokeDasharray: look.dash,
                    strokeWidth: 2,
                }),
                Plot.dot([{ x: 1, y: 0 }], { x: 'x', y: 'y', ...dotted(look) }),
            ];
        const axes = { x: { domain: [0, 2], axis: null }, y: { domain: [-1, 1], axis: null } };
        return { name, swatch: svg({ width: 36, height: 14, margin: 1, ...axes, marks }) };
    });
}
/** True when a count of zero is drawn at the foot of a logarithmic axis: the page says so. */
export function hasFoot({ kind, y, series }) {
    return (kind === 'line' && y.log === true && series.some(({ points }) => points.some((point) => point.y <= 0)));
}
function svg(options) {
    const node = Plot.plot({
        document: document,
        className: 'chart',
        style: { fontSize: `${FONT_PX}px`, background: 'none' },
        ...options,
    });
    // Its own style sheet and what only a screen reader would stumble over go: the page labels the drawing as a whole.
    return node.outerHTML
        .replace(/<style>[\s\S]*?<\/style>/, '')
        .replace(/ (?:aria-label|aria-description|class|font-family|font-size)="[^"]*"/g, '')
        .replace(/ style="[^"]*"/, '')
        .replace(/<[^>]+>/g, (tag) => tag.replace(/(\d\.\d\d)\d+/g, '$1'))
        .replace(/<svg /, '<svg aria-hidden="true" focusable="false" ');
}
function filled({ colour, hollow }) {
    return hollow
        ? { fill: 'var(--paper)', stroke: colour, strokeWidth: 1.5, strokeDasharray: '3 2' }
        : { fill: colour, stroke: colour, strokeWidth: 1 };
}
function dotted({ colour, symbol, hollow }) {
    return { symbol, r: 4, stroke: colour, strokeWidth: 1.6, fill: hollow ? 'var(--paper)' : colour };
}
function lines({ x, y, series }, size) {
    const points = series.flatMap((one) => one.points).filter((point) => isDrawn(point, x.log));
    // An interval that reaches down to almost nothing would press all the rest together at the top.
    const least = y.log
        ? Math.min(...points.map((point) => point.y).filter((value) => value > 0)) / 10
        : -Infinity;
    const range = domain(points.flatMap(({ y: value, low, high }) => [
        value,
        Math.max(low ?? value, Math.min(value, least)),
        high ?? value,
    ]), y.log);
    const foot = range[0];
    const across = spread(points.map((point) => point.x), x.log);
    const box = frame(x.label, y.label, size, widest(range, y.log));
    const all = looks(series);
    const raised = (value) => (y.log ? Math.max(value, foot) : value);
    const marks = [...grid(y.log ? decades(range) : undefined)];
    const bars = [];
    const dots = [];
    for (const [s, one] of series.entries()) {
        const look = all[s];
        const drawn = one.points
            .filter((point) => isDrawn(point, x.log))
            .map((point) => ({
            ...point,
            at: raised(point.y),
            low: point.low === undefined ? undefined : raised(point.low),
            high: point.high === undefined ? undefined : raised(point.high),
            title: `${one.name}: ${said(point)}`,
        }));
        const ranged = drawn.filter(({ low, high }) => low !== undefined && high !== undefined);
        if (ranged.length > 1)
            marks.push(Plot.areaY(ranged, { x: 'x', y1: 'low', y2: 'high', fill: look.colour, fillOpacity: 0.13 }));
        marks.push(Plot.line(drawn, {
            ...{ x: 'x', y: 'at', stroke: look.colour, strokeDasharray: look.dash },
            strokeWidth: look.hollow ? 1.2 : 2,
        }));
        bars.push(Plot.ruleX(ranged, { x: 'x', y1: 'low', y2: 'high', stroke: look.colour, strokeWidth: 1.6 }));
        bars.push(Plot.dot(ends(ranged), { x: 'x', y: 'y', symbol: CAP, r: 4, stroke: look.colour, strokeWidth: 1.6 }));
        if (drawn.length > 60)
            continue;
        const isFoot = (point) => y.log === true && point.y <= 0;
        const place = { x: 'x', y: 'at', title: 'title' };
        dots.push(Plot.dot(drawn.filter((point) => !isFoot(point)), { ...place, ...dotted(look) }));
        dots.push(Plot.dot(drawn.filter(isFoot), {
            ...place,
            ...{
                symbol: 'triangle',
                rotate: 180,
                r: 5,
                stroke: look.colour,
                fill: 'var(--paper)',
                strokeWidth: 1.6,
            },
        }));
    }
    const inner = size.width - box.marginLeft - box.marginRight;
    return {
        ...box,
        height: size.height,
        x: { type: x.log ? 'log' : 'linear', domain: across, ...quiet },
        y: { type: y.log ? 'log' : 'linear', domain: range, ...quiet },
        marks: [
            ...marks,
            Plot.axisX({ ...numbers, ticks: ticksAcross(points, across, x.log, inner) }),
            Plot.ruleY([foot], { stroke: 'var(--axis)' }),
            ...bars,
            ...dots,
            ...labels(x.label, y.label, box, size),
        ],
    };
}
/** Groups of standing bars, one group for each x. */
function groups({ x, y, series }, size) {
    const all = looks(series);
    const points = series.flatMap((one) => one.points);
    const range = domain([...points.flatMap(({ y: value, high }) => [value, high ?? value]), ...(y.log ? [] : [0])], y.log);
    const foot = y.log ? range[0] : 0;
    const box = frame(x.label, y.label, size, widest(range, y.log));
    const xs = [...new Set(points.map((point) => point.x))].sort((a, b) => a - b);
    const rows = series.flatMap((one, s) => one.points.map((point) => ({
        ...{ fx: point.x, x: s, y: Math.max(foot, point.y), foot, title: `${one.name}: ${said(point)}` },
        ...{ look: all[s], low: Math.max(foot, point.low ?? point.y), high: point.high, at: point.x },
    })));
    const ranged = rows.filter(({ high }) => high !== undefined);
    return {
        ...box,
        height: size.height,
        fx: { domain: xs, label: null, padding: 0.2, axis: null },
        x: { domain: series.map((_, s) => s), axis: null, padding: 0.08 },
        y: { type: y.log ? 'log' : 'linear', domain: range, ...quiet },
        marks: [
            ...grid(y.log ? decades(range) : undefined),
            ...series.map((_, s) => Plot.barY(rows.filter((row) => row.x === s), { fx: 'fx', x: 'x', y1: 'foot', y2: 'y', title: 'title', ...filled(all[s]) })),
            Plot.ruleX(ranged, { fx: 'fx', x: 'x', y1: 'low', y2: 'high', stroke: 'var(--ink)', strokeWidth: 1.4 }),
            Plot.ruleY([foot], { stroke: 'var(--axis)' }),
            Plot.axisFx({ ...numbers, anchor: 'bottom' }),
            ...labels(x.label, y.label, box, size),
        ],
    };
}
/** Lying bars, one for each series, with their names and values. */
function list({ y, series }, size) {
    const shownSeries = series.filter(({ points }) => points.length > 0);
    const all = looks(shownSeries.map((one) => (one.printed ? one : { ...one, printed: false })));
    const points = shownSeries.map(({ points: [point] }) => point);
    const values = points.flatMap(({ y: value, high }) => [value, high ?? value]);
    const range = domain([...values, ...(y.log ? [] : [0])], y.log);
    const foot = y.log ? range[0] : Math.min(0, range[0]);
    const longest = Math.max(...shownSeries.map(({ name }) => name.length));
    const marginLeft = Math.min(size.width * 0.42, longest * LETTER_PX + 12);
    const rows = shownSeries.map(({ name, printed }, s) => {
        const { y: value, low, high } = points[s];
        return {
            ...{ name, foot, value: Math.max(foot, value), label: tick(Number(value.toPrecision(3))) },
            ...{ low: Math.max(foot, low ?? value), high, far: Math.max(foot, value, high ?? value) },
            ...{ printed: printed ?? false, title: `${name}: ${said(points[s])}` },
        };
    });
    const look = { ...all[0], colour: 'var(--series-1)', hollow: false };
    const box = {
        marginLeft,
        marginRight: 62,
        marginTop: 8,
        marginBottom: 26 + 16 * linesOf(y.label, size.width),
    };
    const place = { y: 'name', x1: 'foot', x2: 'value', title: 'title' };
    return {
        ...box,
        height: box.marginTop + box.marginBottom + 30 * rows.length,
        x: { type: y.log ? 'log' : 'linear', domain: range, ...quiet },
        y: { domain: rows.map(({ name }) => name), label: null, padding: 0.28 },
        marks: [
            Plot.gridX({ stroke: 'var(--grid)', strokeOpacity: 1, ...(y.log && { ticks: decades(range) }) }),
            Plot.barX(rows.filter(({ printed }) => !printed), { ...place, ...filled(look) }),
            Plot.barX(rows.filter(({ printed }) => printed), { ...place, ...filled({ ...look, hollow: true }) }),
            Plot.ruleY(rows.filter(({ high }) => high !== undefined), { y: 'name', x1: 'low', x2: 'high', stroke: 'var(--ink)', strokeWidth: 1.6 }),
            Plot.text(rows, { y: 'name', x: 'far', text: 'label', textAnchor: 'start', dx: 6, fill: 'var(--ink)' }),
            Plot.axisY({
                ...axis,
                tickSize: 0,
                lineWidth: marginLeft / FONT_PX - 1,
                textOverflow: 'ellipsis',
            }),
            Plot.axisX({ ...numbers, ticks: y.log ? decades(range) : size.width / 110 }),
            Plot.ruleX([foot], { stroke: 'var(--axis)' }),
            ...labels(y.label, '', box, size),
        ],
    };
}
/** The text of a tick; given as `tickFormat`, Plot would leave out those it finds too many on a logarithmic axis. */
const label = (value) => tick(value);
const quiet = { label: null, axis: null };
const axis = { label: null, fill: 'var(--muted)', stroke: 'var(--axis)', tickSize: 5 };
/** An axis of numbers. */
const numbers = { ...axis, text: label };
/** Room for the labels, which are broken into lines where they must be. */
function frame(xLabel, yLabel, { width }, tickLetters) {
    return {
        marginLeft: Math.max(34, tickLetters * LETTER_PX + 14),
        marginRight: 16,
        marginTop: 12 + 17 * linesOf(yLabel, width),
        marginBottom: 28 + 17 * linesOf(xLabel, width),
    };
}
function linesOf(label, width) {
    return Math.ceil((label.length * LETTER_PX) / (width - 24));
}
function labels(xLabel, yLabel, box, { width }) {
    const look = { fill: 'var(--ink)', fontWeight: 600, lineWidth: (width - 16) / FONT_PX };
    const { marginLeft, marginRight, marginTop, marginBottom } = box;
    const right = { frameAnchor: 'bottom-right', textAnchor: 'end', lineAnchor: 'bottom' };
    const left = { frameAnchor: 'top-left', textAnchor: 'start', lineAnchor: 'top' };
    return [
        ...(xLabel
            ? [Plot.text([xLabel], { ...right, ...look, dx: marginRight - 4, dy: marginBottom - 5 })]
            : []),
        ...(yLabel ? [Plot.text([yLabel], { ...left, ...look, dx: 3 - marginLeft, dy: 4 - marginTop })] : []),
    ];
}
function grid(ticks) {
    const many = ticks && { ticks };
    return [
        Plot.gridY({ stroke: 'var(--grid)', strokeOpacity: 1, ...many }),
        Plot.axisY({ ...numbers, tickSize: 0, ...(many ?? { ticks: 6 }) }),
    ];
}
function isDrawn({ x, y }, log) {
    return Number.isFinite(x) && Number.isFinite(y) && (!log || x > 0);
}
function said({ x, y, low, high }) {
    const interval = low !== undefined && high !== undefined ? ` (${tick(low)} … ${tick(high)})` : '';
    return `${tick(y)}${interval} at ${tick(x)}`;
}
function ends(points) {
    return points.flatMap(({ x, low, high }) => [
        { x, y: low },
        { x, y: high },
    ]);
}
/** The values' range with some air; from zero, unless they all lie close together far from it. */
function domain(values, log) {
    const finite = values.filter((value) => Number.isFinite(value) && (!log || value > 0));
    if (finite.length === 0)
        return log ? [0.1, 1] : [0, 1];
    const low = Math.min(...finite);
    const high = Math.max(...finite);
    if (log) {
        const hasZero = values.some((value) => value <= 0);
        const foot = hasZero || high / low > 100 ? 10 ** Math.floor(Math.log10(low) - (hasZero ? 0.3 : 0)) : low / 1.3;
        return [foot, high * 1.3];
    }
    if (low > 0.6 * high && low > 0 && low < high)
        return [low - (high - low) * 0.15, high + (high - low) * 0.1];
    return [Math.min(0, low), high > 0 ? high * 1.06 : 1];
}
function spread(xs, log) {
    if (xs.length === 0)
        return [1, 10];
    const low = Math.min(...xs);
    const high = Math.max(...xs);
    if (log) {
        const air = high > low ? (high / low) ** 0.03 : 2;
        return [low / air, high * air];
    }
    const air = high > low ? (high - low) * 0.03 : Math.abs(low) || 1;
    return [low - air, high + air];
}
/** Powers of ten in a range; with 2 and 5 between where there are few, and fewer where there are many. */
function decades([low, high]) {
    const span = Math.log10(high / low);
    const steps = span < 2.2 ? [1, 2, 5] : [1];
    const every = Math.max(1, Math.ceil(span / 8));
    const found = [];
    for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power++) {
        if (steps.length === 1 && power % every !== 0)
            continue;
        for (const step of steps) {
            const value = Number(`${step}e${power}`);
            if (value >= low * 0.999 && value <= high * 1.001)
                found.push(value);
        }
    }
    return found;
}
function widest(range, log) {
    const at = log ? decades(range) : [0, 1, 2, 3, 4].map((i) => Number(((range[1] * i) / 4).toPrecision(2)));
    return Math.max(...at.map((value) => tick(value).length), 3);
}
/** The points' own x where they are few and far apart, else round numbers. */
function ticksAcross(points, [low, high], log, width) {
    const place = (x) => log ? (Math.log(x / low) / Math.log(high / low)) * width : ((x - low) / (high - low)) * width;
    const xs = [...new Set(points.map(({ x }) => x))].sort((a, b) => a - b);
    const isClose = xs.some((x, i) => i > 0 && place(x) - place(xs[i - 1]) < (tick(x).length + 2) * LETTER_PX);
    if (xs.length > 0 && !isClose)
        return xs;
    if (!log)
        return Math.max(3, Math.floor(width / 80));
    const round = decades([low, high]);
    const every = Math.ceil(round.length / (width / 52));
    return round.filter((_, i) => i % every === 0);
}
