// `dedupe --by-host DIR`: one file per host. Pages choose the hosts, so names are escaped, their number is bounded, and one
// file is open at a time however many there are.
import { createHash } from 'node:crypto'
import { closeSync, fdatasync, fdatasyncSync, mkdirSync, openSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Delivered } from '../journal.ts'
import { formatCount } from '../quantities.ts'
import { CommandError, EXIT, reason } from './exit.ts'
import { writeStderr } from './output.ts'
import { ownOutput } from './own-output.ts'
import { cutToWhole, type Placing } from './placing.ts'

/** Rows of further hosts are in one file together. */
const MOST_HOSTS = 65_536
/** Bytes of all hosts that wait to be written. */
const WAITING_BYTES = 32 * 1024 ** 2
/** Of a file's name without its extension: longer ones end with a digest. */
const NAME_LENGTH = 180

/** Names that begin with an underscore are of no host: that of a host would be escaped. */
const NO_HOST = '_no-host'
const OTHER_HOSTS = '_other-hosts'

/** The usual URL, whose host is as it stands; others go through the platform's parser. */
const USUAL = /^https?:\/\/((?:[a-z\d](?:[a-z\d-]*[a-z\d])?\.)+[a-z]+)(?=[/?#]|$)/i

/** The host of a URL as one byte per character; null: it has none. */
export function hostOf(url: string): string | null {
  const usual = USUAL.exec(url)?.[1]
  if (usual !== undefined && !usual.includes('--')) return usual.toLowerCase()
  try {
    return new URL(Buffer.from(url, 'latin1').toString()).hostname || null
  } catch {
    return null
  }
}

/** A name that is one file in every folder: no separators, no dot or dash at the start, no device of Windows. */
export function fileNameOf(host: string): string {
  const escaped = (character: string) =>
    [...Buffer.from(character)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('')
  const name = host
    .replaceAll(/[^a-z\d._-]/gu, escaped)
    .replace(/^[._-]/, escaped)
    .replace(/^(?=(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$))./, escaped)
  if (name.length <= NAME_LENGTH) return name
  const digest = createHash('sha256').update(host).digest('hex').slice(0, 32)
  return `${name.slice(0, NAME_LENGTH - 33)}~${digest}`
}

const dataLater = promisify(fdatasync)

export class HostFiles implements Delivered {
  readonly #folder: string
  readonly #extension: string
  readonly #mostHosts: number
  readonly #placing: Placing
  /** Hosts with a file of their own. */
  readonly #hosts = new Set<string>()
  /** Files that have their header. */
  readonly #files = new Set<string>()
  /** Paths that were written and are not known to be on the disk; those that are being put there. */
  #unsynced = new Set<string>()
  #syncing = new Set<string>()
  /** By file: rows as one byte per character. */
  #waiting = new Map<string, string>()
  #waitingBytes = 0
  #header = ''
  #others = 0

  /** Creates the folder; it has to be empty, so that no file is of two runs, unless it is appended to. */
  constructor(folder: string, extension: string, placing: Placing, mostHosts = MOST_HOSTS) {
    this.#folder = folder
    this.#mostHosts = mostHosts
    this.#extension = extension
    this.#placing = placing
    let names: string[]
    try {
      mkdirSync(folder, { recursive: true })
      names = readdirSync(folder)
    } catch (error) {
      throw new CommandError(EXIT.output, `cannot write to ${folder}: ${reason(error)}`)
    }
    if (names.length === 0 || placing.append) return
    throw new CommandError(
      EXIT.output,
      `--by-host ${folder}: the folder has files in it: expected an empty one, or --append`,
    )
  }

  /** What each file begins with. */
  begin(header: Uint8Array): void {
    this.#header = Buffer.from(header).toString('latin1')
  }

  /** A row for the file of its URL's host, both as one byte per character. */
  add(url: string, row: string): void {
    const name = this.#nameFor(hostOf(url))
    this.#waiting.set(name, (this.#waiting.get(name) ?? '') + row)
    this.#waitingBytes += row.length
  }

  /** Writes what waits when there is much of it, or now. */
  flush(isNow: boolean): void {
    if (!isNow && this.#waitingBytes < WAITING_BYTES) return
    const waiting = this.#waiting
    this.#waiting = new Map()
    this.#waitingBytes = 0
    for (const [name, rows] of waiting) {
      const path = join(this.#folder, `${name}.${this.#extension}`)
      if (!this.#files.has(name)) this.#cut(path)
      const file = ownOutput(path, true)
      try {
        file.write(
          Buffer.from(this.#files.has(name) || file.isContinued ? rows : this.#header + rows, 'latin1'),
        )
        this.#files.add(name)
        if (this.#placing.outlivesRun) this.#unsynced.add(path)
      } finally {
        file.close()
      }
    }
  }

  sync(): void {
    for (const path of new Set([...this.#syncing, ...this.#unsynced])) {
      let fd: number | undefined
      try {
        fd = openSync(path, 'r+')
        fdatasyncSync(fd)
      } catch (error) {
        throw new CommandError(EXIT.output, `cannot write ${path}: ${reason(error)}`)
      } finally {
        if (fd !== undefined) closeSync(fd)
      }
      this.#unsynced.delete(path)
      this.#syncing.delete(path)
    }
  }

  async syncLater(): Promise<void> {
    this.#syncing = new Set([...this.#syncing, ...this.#unsynced])
    this.#unsynced = new Set()
    for (const path of this.#syncing) {
      let fd: number | undefined
      try {
        fd = openSync(path, 'r+')
        await dataLater(fd)
      } catch (error) {
        throw new CommandError(EXIT.output, `cannot write ${path}: ${reason(error)}`)
      } finally {
        if (fd !== undefined) closeSync(fd)
      }
      this.#syncing.delete(path)
    }
  }

  warn(): void {
    if (this.#others === 0) return
    writeStderr(
      `urlsieve: warning: more than ${formatCount(this.#mostHosts)} hosts: ${formatCount(this.#others)} lines of further ones are in ${OTHER_HOSTS}.${this.#extension}\n`,
    )
  }

  // A run before may have ended in the middle of a row.
  #cut(path: string): void {
    const bytes = this.#placing.append ? (statSync(path, { throwIfNoEntry: false })?.size ?? 0) : 0
    if (bytes > 0) cutToWhole(path, bytes, this.#placing.end)
  }

  #nameFor(host: string | null): string {
    if (host === null) return NO_HOST
    if (!this.#hosts.has(host)) {
      if (this.#hosts.size >= this.#mostHosts) {
        this.#others++
        return OTHER_HOSTS
      }
      this.#hosts.add(host)
    }
    return fileNameOf(host)
  }
}
