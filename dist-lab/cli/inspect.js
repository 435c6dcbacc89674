import { Output } from './output.js';
import { openStored } from './stored.js';
import { table } from './table.js';
import { readableBytes } from './values.js';
export function inspectCommand(program) {
    program
        .command('inspect')
        .summary('what a stored sieve is and holds')
        .description('Shows filter, profile, hash, counts, memory and rates of a .sieve file or of a store’s folder.')
        .argument('<path>', 'a .sieve file or the folder of a store')
        .option('--json', 'one JSON object')
        .addHelpText('after', '\nExample:\n  urlsieve inspect seen')
        .action(inspect);
}
async function inspect(path, flags) {
    const sieve = await openStored(path);
    const stats = sieve.stats();
    const output = new Output();
    if (flags.json) {
        output.print(`${JSON.stringify({ path, plan: sieve.plan, ...stats }, null, 2)}\n`);
        return;
    }
    const rate = (value) => (value === null ? '-' : value.toPrecision(2));
    const rows = [
        ['filter', stats.filter],
        [
            'profile',
            `${stats.profile} (${sieve.profile.rules.map((rule) => rule.name).join(', ') || 'no rules'})`,
        ],
        ['hash', stats.hash],
        ['URLs', stats.urls.toLocaleString('en-US')],
        ['repeats answered', stats.seen.toLocaleString('en-US')],
        ['no URLs', stats.invalid.toLocaleString('en-US')],
        ['memory', readableBytes(stats.sizeBytes)],
        ['bits a URL', stats.bitsPerUrl?.toFixed(1) ?? '-'],
        ['fill', `${(stats.fill * 100).toFixed(1)} %`],
        ['rate now', rate(stats.expectedRate)],
        ['rate promised', `${rate(stats.promisedRate)}${stats.pastCapacity ? ' (past its capacity)' : ''}`],
    ];
    output.print(rows.map(([name, value]) => `${name.padEnd(17)}${value}\n`).join(''));
    if (stats.layers) {
        const layers = stats.layers.map(({ name, fill, distinct }) => [
            name,
            `${(fill * 100).toFixed(1)} %`,
            distinct,
        ]);
        output.print(`\n${table(['layer', 'fill', 'entries'], layers)}`);
    }
}
