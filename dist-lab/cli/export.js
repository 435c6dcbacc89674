import { STATE } from '../state.js';
import { checkKeepsKeys, storedKeys } from '../store/stored-keys.js';
import { CommandError, EXIT } from './exit.js';
import { Output } from './output.js';
import { isFolder, openStored } from './stored.js';
const NEWLINE = Buffer.of(10);
export function exportCommand(program) {
    program
        .command('export')
        .summary('list the keys of a store that keeps them')
        .description('Prints every key, one a line, in the order in which they came. Needs a store made with --keep-keys.')
        .argument('<path>', 'the folder of a store')
        .option('-o, --output <file>', 'write here instead of stdout')
        .addHelpText('after', '\nExample:\n  urlsieve export seen > keys.txt')
        .action(exportKeys);
}
async function exportKeys(path, flags) {
    const sieve = await openStored(path);
    if (isFolder(path)) {
        checkKeepsKeys(path, sieve);
        print(storedKeys(path), flags.output);
        return;
    }
    const [shard] = sieve[STATE].shards.all;
    if (!shard.filter.keys) {
        throw new CommandError(EXIT.usage, `${path} keeps no keys: filter '${sieve.plan.filter}' remembers only hashes or bits`);
    }
    print(shard.filter.keys(), flags.output);
}
function print(keys, path) {
    const output = new Output(path);
    let parts = [];
    for (const key of keys) {
        parts.push(Buffer.from(key), NEWLINE);
        if (parts.length < 20_000)
            continue;
        output.write(Buffer.concat(parts));
        parts = [];
    }
    output.write(Buffer.concat(parts));
    output.close();
}
