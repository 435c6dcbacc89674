import { Sieve } from '../index.js';
import { readInput } from './input.js';
import { Output } from './output.js';
import { count, rate } from './values.js';
export function underCommand(program) {
    program
        .command('under')
        .summary('has anything been seen under a host or folder?')
        .description('Reads URLs, one a line, into a prefix-layers filter and says for each folder whether any of them is under it.\n' +
        'A "no" is certain; a "yes" errs at most at the rate given. Exit code 1 when a folder has nothing under it.')
        .argument('<folders...>', 'hosts or folders, such as example.com or example.com/blog/')
        .option('--in <files...>', 'files of URLs; stdin when not given', ['-'])
        .option('--urls <n>', 'expected distinct URLs', count('--urls'), 1_000_000)
        .option('--fpr <rate>', 'promised false-positive rate', rate('--fpr'), 1e-6)
        .option('--layers <L>', 'folders remembered of each URL', count('--layers'))
        .option('--json', 'one JSON object a folder')
        .addHelpText('after', `
Example:
  urlsieve under example.org example.org/news/ --in links.txt`)
        .action(under);
}
async function under(folders, flags) {
    const sieve = await Sieve.create({
        filter: 'prefix-layers',
        expectedUrls: flags.urls,
        falsePositiveRate: flags.fpr,
        layers: flags.layers,
    });
    const feed = sieve.feed({ keep: 'none' });
    for (const path of flags.in) {
        await readInput(path, { room: (bytes) => feed.room(bytes), push: (bytes) => feed.push(bytes) });
        feed.end();
    }
    const output = new Output();
    for (const folder of folders) {
        const seen = sieve.hasUnder(folder);
        if (!seen)
            process.exitCode = 1;
        output.print(flags.json ? `${JSON.stringify({ folder, seen })}\n` : `${seen ? 'yes' : 'no '}  ${folder}\n`);
    }
}
