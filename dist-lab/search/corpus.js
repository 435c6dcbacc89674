import { chooseColumns, Table } from './table.js';
/** Words of one field do not run into the next. */
const BETWEEN = '\n';
export function tableCorpus(path, bytes, options) {
    const table = new Table(path, bytes, options);
    const choose = (columns) => chooseColumns(path, columns, options.columns);
    const textOf = (fields, searched) => searched.map((c) => fields[c] ?? '').join(BETWEEN);
    return {
        paths: [path],
        scan(onText) {
            let searched = [];
            return table.scan((columns) => {
                searched = choose(columns);
            }, (fields) => onText(textOf(fields, searched)));
        },
        *read(shape, rows) {
            const searched = choose(shape.columns);
            for (const { row, fields } of table.read(shape, rows))
                yield { row, fields, text: textOf(fields, searched) };
        },
        searched: ({ columns }) => choose(columns),
        close: () => bytes.close(),
    };
}
/** `open` gives a document's bytes. */
export function documentCorpus(paths, open) {
    const textOf = async (path) => {
        const bytes = await open(path);
        try {
            return bytes.read(0, bytes.sizeBytes).toString('utf8');
        }
        finally {
            bytes.close();
        }
    };
    return {
        paths,
        async scan(onText) {
            for (const path of paths)
                onText(await textOf(path));
            return { columns: ['file'], places: new Float64Array(0) };
        },
        async *read(_, rows) {
            for (const row of rows)
                yield { row, fields: [paths[row]], text: await textOf(paths[row]) };
        },
        searched: () => [0],
        close() { },
    };
}
