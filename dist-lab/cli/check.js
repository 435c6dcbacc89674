import { Output } from './output.js';
import { openStored } from './stored.js';
export function checkCommand(program) {
    program
        .command('check')
        .summary('has a URL been seen?')
        .description('Asks a stored sieve for URLs and marks nothing. Exit code 0 when all were seen, 1 when one is new.')
        .argument('<urls...>', 'URLs')
        .requiredOption('--state <path>', 'a .sieve file or the folder of a store')
        .option('--json', 'one JSON object a URL, with its key and why')
        .addHelpText('after', '\nExample:\n  urlsieve check --state seen https://example.com/ && echo seen')
        .action(check);
}
async function check(urls, flags) {
    const sieve = await openStored(flags.state);
    const output = new Output();
    for (const url of urls) {
        const explanation = sieve.explain(url);
        if (explanation.verdict === 'new')
            process.exitCode = 1;
        output.print(flags.json ? `${JSON.stringify(explanation)}\n` : `${explanation.verdict.padEnd(4)}  ${url}\n`);
    }
}
