// Deduplication within a memory limit, against sort -u and DuckDB with the same limit: time, peak memory of all their
// processes, bytes written to disk, and whether the output is right.
//   node bench/spill.mjs --lines 1e8 --max-memory 256M [--repeats half] [--input file] [--only urlsieve,sort] [--temp DIR] [--json]
// Lines come from bench/rivals/lines.cpp through a pipe, or are written to a file first; what comes out goes through a pipe to
// a digest, which is compared with that of the lines' first occurrences, in the order of the input where the program keeps it.
import { execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, openSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { ProcessWatch } from './measure.mjs'
import { builtFile, missingBuild, missingProgram } from './programs.mjs'

const source = fileURLToPath(new URL('rivals/lines.cpp', import.meta.url))
const lines = fileURLToPath(new URL('.data/lines', import.meta.url))
const duckdb = fileURLToPath(new URL('rivals/duckdb.mjs', import.meta.url))

const { values } = parseArgs({
  options: {
    lines: { type: 'string', default: '1e6' },
    'max-memory': { type: 'string', default: '256M' },
    repeats: { type: 'string', default: 'none' },
    input: { type: 'string', default: 'pipe' },
    only: { type: 'string', default: 'urlsieve,unlimited,sort,duckdb' },
    profile: { type: 'string', default: 'raw' },
    temp: { type: 'string', default: tmpdir() },
    json: { type: 'boolean', default: false },
  },
})
const limit = values['max-memory']
const count = Number(values.lines)

/** Compiles the generator unless it is newer than its source. */
function build() {
  const missing = missingProgram('g++') ?? missingBuild('cli/main.js')
  if (missing) throw new Error(missing)
  if (existsSync(lines) && statSync(lines).mtimeMs > statSync(source).mtimeMs) return
  mkdirSync(dirname(lines), { recursive: true })
  execFileSync('g++', ['-O3', '-std=c++17', '-o', lines, source])
}

const dedupe = [process.execPath, builtFile('cli/main.js'), 'dedupe', '--quiet', '--profile', values.profile]

/** Each program with its arguments; `file` is the input, or undefined for stdin. */
const programs = {
  urlsieve: (file, temp) => [...dedupe, '--max-memory', limit, '--temp', temp, ...(file ? [file] : [])],
  unlimited: (file) => [...dedupe, ...(file ? [file] : [])],
  sort: (file, temp) => ['sort', '-u', '-S', limit, '-T', temp, ...(file ? [file] : [])],
  // On one thread: two of them run out of 256 MB.
  duckdb: (file, temp) => [
    ...[process.execPath, duckdb, '1', file ?? pipes(temp).input, pipes(temp).output],
    ...[limit.replace(/([KMG])$/, '$1iB'), temp],
  ],
}
const keepsOrder = { urlsieve: true, unlimited: true, sort: false, duckdb: false }

function ended(child, name) {
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => {
      if (code === 0) resolve()
      else reject(new Error(`${name} ended with ${signal ?? `exit code ${code}`}`))
    })
  })
}

async function digestOf(child, stdout) {
  let text = ''
  stdout.setEncoding('utf8').on('data', (more) => {
    text += more
  })
  await ended(child, 'digest')
  return JSON.parse(text)
}

/** Named pipes: what the shell's `|` makes, and DuckDB can open them. */
function pipes(temp) {
  const [input, output] = [join(temp, 'input.pipe'), join(temp, 'output.pipe')]
  if (!existsSync(input)) execFileSync('mkfifo', [input, output])
  return { input, output }
}

/** Starts a program whose standard input and output are these files; '' leaves it as it is. */
function start(command, input, output, stdout = 'inherit') {
  const from = input && `< '${input}'`
  const to = output && `> '${output}'`
  return spawn('sh', ['-c', `exec "$@" ${from} ${to}`, 'sh', ...command], {
    stdio: ['ignore', stdout, 'inherit'],
    env: { ...process.env, LC_ALL: 'C' },
  })
}

async function run(name, file, temp) {
  const { input, output } = pipes(temp)
  const generator = file ? null : start([lines, 'generate', String(count), values.repeats], '', input)
  const started = performance.now()
  const digest = start([lines, 'digest'], output, '', 'pipe')
  const opens = name === 'duckdb'
  const child = start(programs[name](file, temp), file || opens ? '' : input, opens ? '' : output)
  const all = [generator, digest, child].filter((process) => process !== null)
  const watch = new ProcessWatch(child.pid)
  const timer = setInterval(() => watch.sample(), 50)
  const waits = [ended(child, name), digestOf(digest, digest.stdout)]
  if (generator) waits.push(ended(generator, 'generator'))
  const [, result] = await Promise.all(waits).finally(() => {
    clearInterval(timer)
    // When one has failed, the others may wait for it; the next program gets new pipes.
    for (const process of all) process.kill()
    for (const pipe of [input, output]) rmSync(pipe)
  })
  return { seconds: (performance.now() - started) / 1000, digest: result, ...watch.result() }
}

function report(name, { seconds, digest, peakRssBytes, cpuMs, writtenBytes }, expected) {
  const isRight =
    digest.lines === expected.lines &&
    digest.sum === expected.sum &&
    (!keepsOrder[name] || digest.chain === expected.chain)
  const row = {
    program: name,
    lines: count,
    repeats: values.repeats,
    input: values.input,
    limit: name === 'unlimited' ? null : limit,
    seconds: Number(seconds.toFixed(2)),
    linesPerSecond: Math.round(count / seconds),
    cpuSeconds: cpuMs === null ? null : cpuMs / 1000,
    peakRssBytes,
    writtenBytes,
    isRight,
    ...(!isRight && { digest, expected }),
  }
  const mega = (bytes) => (bytes === null ? '-' : `${Math.round(bytes / 1e6)} MB`)
  console.log(
    values.json
      ? JSON.stringify(row)
      : `${name.padEnd(10)} ${seconds.toFixed(2).padStart(9)} s  ${(count / seconds / 1e6).toFixed(2).padStart(6)} M lines/s  ` +
          `peak ${mega(peakRssBytes).padStart(8)}  written ${mega(writtenBytes).padStart(9)}  ${isRight ? 'right' : `WRONG OUTPUT: ${JSON.stringify(digest)}, expected ${JSON.stringify(expected)}`}`,
  )
}

async function main() {
  build()
  const temp = mkdtempSync(join(values.temp, 'urlsieve-spill-'))
  try {
    let file
    if (values.input === 'file') {
      file = join(temp, 'input.txt')
      await ended(
        spawn(lines, ['generate', String(count), values.repeats], {
          stdio: ['ignore', openSync(file, 'w'), 'inherit'],
        }),
        'generator',
      )
    }
    const expected = JSON.parse(
      execFileSync(lines, ['expected', String(count), values.repeats], { encoding: 'utf8' }),
    )
    for (const name of values.only.split(',')) {
      try {
        report(name, await run(name, file, temp), expected)
      } catch (error) {
        console.log(`${name.padEnd(10)} failed: ${error.message}`)
        process.exitCode = 1
      }
    }
  } finally {
    rmSync(temp, { recursive: true, force: true })
  }
}

await main()
