// One writer at a time: a lock file that names the process holding it. A lock whose process is gone is taken over.
import { closeSync, openSync, readFileSync, renameSync, unlinkSync, writeSync } from 'node:fs';
import { hostname } from 'node:os';
import { SieveError } from '../errors.js';
import { diskError } from './log.js';
// The 22nd field of /proc/PID/stat; null where there is no such file.
function startOf(pid) {
    try {
        const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
        return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null;
    }
    catch {
        return null;
    }
}
function isAlive({ pid, host, started }) {
    if (host !== hostname())
        return true; // another machine's process cannot be asked
    try {
        process.kill(pid, 0);
    }
    catch (error) {
        return error.code === 'EPERM';
    }
    const now = startOf(pid);
    return started === null || now === null || now === started;
}
function read(path) {
    try {
        return JSON.parse(readFileSync(path, 'utf8'));
    }
    catch {
        return null;
    }
}
/** Takes the lock or throws one line that names who has it. Returns what gives it back. */
export function takeLock(path) {
    const mine = {
        pid: process.pid,
        host: hostname(),
        started: startOf(process.pid),
        since: new Date().toISOString(),
    };
    for (let attempt = 0;; attempt++) {
        try {
            const fd = openSync(path, 'wx');
            writeSync(fd, JSON.stringify(mine));
            closeSync(fd);
            break;
        }
        catch (error) {
            if (error.code !== 'EEXIST')
                throw diskError(path, error);
        }
        const holder = read(path);
        if (holder && (isAlive(holder) || attempt > 3)) {
            throw new SieveError('locked', `${path} is held by process ${holder.pid} on ${holder.host} since ${holder.since}: one writer at a time; open it read-only or stop that process`);
        }
        // The holder is gone, or died while writing the lock. Moving the file away is done by one of several takers only.
        const stale = `${path}.stale-${process.pid}`;
        try {
            renameSync(path, stale);
            unlinkSync(stale);
        }
        catch (error) {
            if (error.code !== 'ENOENT')
                throw diskError(path, error);
        }
    }
    return () => {
        if (read(path)?.pid === process.pid)
            unlinkSync(path);
    };
}
