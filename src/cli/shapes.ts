// `urlsieve shapes`: the kinds of URLs in a list, with their shares and what is suspicious.
import type { Command } from 'commander'
import { formatCounted, parseCount } from '../quantities.ts'
import type { ShapesReport } from '../shapes/shape-report.ts'
import { Shapes } from '../shapes/shapes.ts'
import { checkOutput, readInput, totalBytes } from './input.ts'
import { type InputFlags, type RecordInput, recordInput, withInputOptions } from './input-options.ts'
import { Output, writeStderr } from './output.ts'
import { Progress } from './progress.ts'

interface Flags extends InputFlags {
  json?: boolean
  html?: string
  hosts: number
  limit: number
  suspicious?: boolean
  quiet?: boolean
}

export function shapesCommand(program: Command): void {
  withInputOptions(program.command('shapes'))
    .summary('show the kinds of URLs in a list, and which are suspicious')
    .description(
      'Groups URLs into shapes: host, path and query in which variable places are named, such as ' +
        'example.com/post/{number}. Shows counts, shares, distinct values and examples per host, and marks counters, ' +
        'calendars, sessions, sort orders, facets, version histories, repeated segments and parameter sprawl. Reads ' +
        'stdin when no file or - is given, in bounded memory.',
    )
    .argument('[files...]', 'files of one URL per line, or in the formats of dedupe')
    .option('--json', 'one JSON object')
    .option('--html <file>', 'write a page with the tree and its shares here')
    .option('--hosts <n>', 'show this many hosts', parseCount('--hosts'), 20)
    .option('--limit <n>', 'show this many shapes per host', parseCount('--limit'), 20)
    .option('--suspicious', 'show suspicious shapes only')
    .option('--quiet', 'no progress')
    .addHelpText(
      'after',
      `
Examples:
  urlsieve shapes links.txt
  zcat crawl-*.gz | urlsieve shapes --suspicious --hosts 5
  urlsieve shapes crawl.warc.gz --format warc
  urlsieve shapes links.txt.gz --html shapes.html --json > shapes.json`,
    )
    .action(shapes)
}

async function shapes(files: string[], flags: Flags): Promise<void> {
  const paths = files.length > 0 ? files : ['-']
  const progress = new Progress(totalBytes(paths), flags.quiet)
  if (flags.html !== undefined) checkOutput(paths, flags.html)
  const found = new Shapes()
  const input = recordInput(flags)
  let before = 0
  for (const path of paths) {
    const position = await readShapes(path, found, input, (bytes) =>
      progress.tick(() => ({ lines: found.lines, bytes: before + bytes })),
    )
    found.end()
    before += position
  }
  progress.done()
  const whole = found.report({ hosts: flags.hosts, shapes: flags.limit })
  const report = flags.suspicious ? onlySuspicious(whole) : whole
  if (flags.html !== undefined) await writePage(flags.html, report)
  const output = new Output()
  if (flags.json) output.print(`${JSON.stringify(report)}\n`)
  else if (flags.html === undefined) {
    const { formatShapes } = await import('../shapes/shape-text.ts')
    output.print(formatShapes(report))
  }
}

/** Reads one input; returns how many of its bytes were read, which `onRead` gets on the way. */
async function readShapes(
  path: string,
  found: Shapes,
  input: RecordInput | null,
  onRead: (bytes: number) => void,
): Promise<number> {
  let position = 0
  if (input) {
    const { readRecords } = await import('./record-input.ts')
    for await (const { urls, bytes } of readRecords(path, input)) {
      found.reserve(urls.length).set(urls)
      found.push(urls.length)
      position += bytes
      onRead(position)
    }
    return position
  }
  await readInput(path, {
    reserve: (bytes) => found.reserve(bytes),
    push: (bytes, consumed) => {
      found.push(bytes)
      position = consumed
      onRead(position)
    },
  })
  return position
}

async function writePage(path: string, report: ShapesReport): Promise<void> {
  const { shapesPage } = await import('../shapes/shape-page.ts')
  const page = new Output(path)
  page.print(shapesPage(report))
  page.close()
  writeStderr(`urlsieve: ${formatCounted(report.urls, 'URL')}: ${path}\n`)
}

/** Shapes with a finding; the others count among `others`. */
function onlySuspicious(report: ShapesReport): ShapesReport {
  const list = report.list.flatMap((host) => {
    const shapes = host.shapes.filter(({ traps }) => traps.length > 0)
    const others = host.count - shapes.reduce((sum, { count }) => sum + count, 0)
    return shapes.length > 0 ? [{ ...host, shapes, others }] : []
  })
  return { ...report, list, others: report.urls - list.reduce((sum, { count }) => sum + count, 0) }
}
