// The command against its rivals: the whole job from a file of lines to a file of first lines, process start
// included. Input comes from the page cache, output goes to memory where the system has /dev/shm.

import { createHash } from 'node:crypto'
import { closeSync, mkdtempSync, openSync, readSync, rmSync, statfsSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { measure } from '../measure.mjs'
import { commands as duckdb } from '../rivals/duckdb.mjs'
import { commands as gawk } from '../rivals/gawk.mjs'
import { commands as huniq } from '../rivals/huniq.mjs'
import { commands as mawk } from '../rivals/mawk.mjs'
import { commands as native, xxh3Commands } from '../rivals/native.mjs'
import { commands as runiq } from '../rivals/runiq.mjs'
import { commands as set } from '../rivals/set.mjs'
import { commands as sort } from '../rivals/sort.mjs'
import { threadCommands, commands as urlsieve } from '../rivals/urlsieve.mjs'
import { prepareStream, streamNames } from '../streams.mjs'

const commands = [...urlsieve, ...native, ...mawk, ...gawk, ...sort, ...duckdb, ...set, ...huniq, ...runiq]

/** The cases in groups; the order within a group is alternated from round to round. */
export function commandGroups(settings) {
  return groupsFor('command', commands, settings)
}

/** The command on one thread and on more, and native programs on one. */
export function threadGroups(settings) {
  const able = threadCommands.filter(({ threads }) => threads <= availableParallelism())
  return groupsFor('threads', [...able, ...native, ...xxh3Commands], settings)
}

function groupsFor(group, subjects, settings) {
  return streamNames.map((streamName) => ({
    cases: subjects.map((command) => ({
      id: `${group}/${streamName}/${command.name}`,
      required: command.required,
      missing: command.missing,
      version: command.version,
      run: (stage, signal) => runCommand(group, command, stage, signal),
    })),
    prepare: () => prepare(streamName, settings),
    release: ({ directory }) => rmSync(directory, { recursive: true, force: true }),
  }))
}

function prepare(streamName, settings) {
  const stream = prepareStream(streamName, settings)
  inspectLines(stream.file) // Reads it once, so that the first program measured does not pay for the disk.
  const directory = mkdtempSync(join(outputPlace(stream.bytes), 'urlsieve-bench-'))
  return { stream, directory, outputFile: join(directory, 'out.txt') }
}

/** Memory when it has space for twice the largest output, else the temporary directory. */
function outputPlace(bytes) {
  try {
    const { bavail, bsize } = statfsSync('/dev/shm')
    if (bavail * bsize > 2 * bytes) return '/dev/shm'
  } catch {
    // No such place on this system.
  }
  return tmpdir()
}

async function runCommand(group, { name, program, args, keepsOrder = true }, { stream, outputFile }, signal) {
  const files = { inputFile: stream.file, outputFile }
  // The stream is on standard input for all; a program that names its files in the arguments ignores that.
  const { wallMs, cpuMs, peakRssBytes } = await measure({
    program,
    args: args(files),
    env: { LC_ALL: 'C' },
    signal,
    ...files,
  })
  const printed = inspectLines(outputFile)
  rmSync(outputFile, { force: true })
  const measured = { wallMs, cpuMs, peakRssBytes, printedLines: printed.lines }
  return [
    {
      group,
      stream: stream.name,
      subject: name,
      lines: stream.lines,
      bytes: stream.bytes,
      distinct: stream.distinct,
      streamSha256: stream.sha256,
      outputTo: outputFile.startsWith('/dev/shm') ? '/dev/shm' : 'temporary directory',
      ...measured,
      wrongDrops: stream.distinct - printed.lines,
      // First lines, in order, byte for byte? Not checked for programs with another order.
      exactOutput: keepsOrder ? printed.sha256 === stream.firstsSha256 : null,
    },
  ]
}

/** The number of lines of a file and its digest. */
function inspectLines(file) {
  const hash = createHash('sha256')
  const buffer = Buffer.allocUnsafe(1 << 20)
  const fd = openSync(file, 'r')
  let lines = 0
  for (let length = readSync(fd, buffer); length > 0; length = readSync(fd, buffer)) {
    const chunk = buffer.subarray(0, length)
    hash.update(chunk)
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, at + 1)) lines++
  }
  closeSync(fd)
  return { lines, sha256: hash.digest('hex') }
}
