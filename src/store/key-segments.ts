// The keys of a store that keeps them: each log that was folded into a snapshot leaves its keys behind in a gzip file,
// one line an entry: `+` added or `-` deleted, then the key with newline and backslash escaped.
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { SieveError } from '../errors.ts'
import { AtomicFile, diskError, readStored, writeFully } from './file.ts'
import { damaged } from './format.ts'
import { OP, readLog } from './log.ts'

const NEWLINE = 10
const PLUS = 0x2b
const MINUS = 0x2d

export function keySegmentPath(folder: string, number: number): string {
  return join(folder, `keys-${String(number).padStart(8, '0')}.gz`)
}

/** Paths of the segments, oldest first. */
export function listKeySegments(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => /^keys-\d{8}\.gz$/.test(name))
    .sort()
    .map((name) => join(folder, name))
}

function escaped(key: Buffer): Buffer {
  if (!key.includes(NEWLINE) && !key.includes(0x5c)) return key
  return Buffer.from(key.toString('latin1').replaceAll('\\', '\\\\').replaceAll('\n', '\\n'), 'latin1')
}

function unescaped(line: Buffer): Buffer {
  if (!line.includes(0x5c)) return line
  const text = line.toString('latin1').replace(/\\(.)/g, (_, c: string) => (c === 'n' ? '\n' : c))
  return Buffer.from(text, 'latin1')
}

/** Keeps the keys of a log, unless that was done before. */
export function writeKeySegment(path: string, log: string, read: typeof readLog = readLog): void {
  if (existsSync(path) || !existsSync(log)) return
  const lines: Buffer[] = []
  read(log, ({ op, payload }) => {
    if (op !== OP.addKeys && op !== OP.deleteKeys) return
    const sign = Buffer.from(op === OP.deleteKeys ? '-' : '+')
    for (let at = 0; at < payload.length; ) {
      const end = at + 4 + payload.readUInt32LE(at)
      lines.push(sign, escaped(payload.subarray(at + 4, end)), Buffer.of(NEWLINE))
      at = end
    }
  })
  if (lines.length === 0) return
  const file = new AtomicFile(path)
  try {
    writeFully(file.fd, gzipSync(Buffer.concat(lines), { level: 6 }))
    file.commit()
  } catch (error) {
    file.abandon()
    throw error instanceof SieveError ? error : diskError(path, error)
  }
}

function unpacked(path: string): Buffer {
  const bytes = readStored(path)
  try {
    return gunzipSync(bytes)
  } catch (error) {
    throw damaged(path, 0, (error as Error).message)
  }
}

/** Every entry of a segment, in order. */
export function* readKeySegment(path: string): Generator<{ key: Buffer; isDelete: boolean }> {
  const text = unpacked(path)
  for (let at = 0; at < text.length; ) {
    const end = text.indexOf(NEWLINE, at)
    if (end < 0) throw damaged(path, at, 'the last line has no end')
    if (text[at] !== PLUS && text[at] !== MINUS)
      throw damaged(path, at, 'a line that neither adds nor deletes')
    yield { key: unescaped(text.subarray(at + 1, end)), isDelete: text[at] === MINUS }
    at = end + 1
  }
}
