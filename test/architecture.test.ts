// The shape of the source: which folder may import which, what the library's entry reaches, and how long and how
// repetitive files are.
import { readdirSync, readFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../', import.meta.url))
const src = join(root, 'src')

const MAX_LINES = 400
/** Identical lines in a row that count as repetition. */
const BLOCK_LINES = 6

/** Folders whose files are written, not generated. */
const sources = ['src', 'kernel', 'site/src', 'integrations', 'scripts', 'test']
const unrepeated = ['src', 'kernel', 'site/src']

/** What stays as it is, with the reason. */
const exceptions = {
  cycles: [] as string[],
  long: [] as string[],
  // A function cannot return the four words of a round: they are written out.
  repeated: ['kernel/families/siphash.ts'],
}
const generated = ['src/kernel-bytes.ts']

/** Paths relative to the root of all source files below some folders. */
function filesIn(folders: readonly string[]): string[] {
  return folders
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
        .filter((name) => /\.(ts|tsx|mjs|js|css|py)$/.test(name))
        .map((name) => join(folder, name)),
    )
    .filter((path) => !generated.includes(path))
    .sort()
}

const read = (path: string) => readFileSync(join(root, path), 'utf8')

/** Names in import statements: relative paths from the root, others unchanged. */
function namesIn(path: string, statement: RegExp): string[] {
  return [...read(path).matchAll(statement)].map(([, name]) =>
    name!.startsWith('.') ? relative(root, resolve(root, dirname(path), name!)) : name!,
  )
}

/** What a module imports when it is loaded: no types, which are erased, and no `import()`. */
const importsOf = (path: string) =>
  namesIn(path, /^(?:import|export) (?!type )(?:[^';]*? from )?'([^']+)'/gms)

/** All that a module names, types and `import()` too. */
const mentionsOf = (path: string) => namesIn(path, /(?:\bfrom |\bimport |\bimport\()'([^']+)'/g)

const modules = filesIn(['src'])
/** A folder of src/, or a file that lies in src/ itself. */
const placeOf = (path: string) => {
  const inside = relative(src, join(root, path))
  return inside.includes('/') ? `${inside.split('/')[0]}/` : inside
}

describe('imports', () => {
  /** For each place the places it imports, each with a file that does. */
  const graph = new Map<string, Map<string, string>>()
  for (const path of modules) {
    const from = placeOf(path)
    const targets = graph.get(from) ?? new Map<string, string>()
    graph.set(from, targets)
    for (const name of importsOf(path)) {
      if (name.startsWith('src/') && placeOf(name) !== from) targets.set(placeOf(name), path)
    }
  }

  it('folders have no cycle', () => {
    const isDone = new Set<string>()
    const cycles: string[] = []
    const visit = (place: string, path: readonly string[]) => {
      const at = path.indexOf(place)
      if (at >= 0) cycles.push([...path.slice(at), place].join(' → '))
      if (at >= 0 || isDone.has(place)) return
      for (const next of graph.get(place)?.keys() ?? []) visit(next, [...path, place])
      isDone.add(place)
    }
    for (const place of graph.keys()) visit(place, [])
    expect(cycles.filter((cycle) => !exceptions.cycles.includes(cycle))).toEqual([])
  })

  it('only the edges import themselves: src/cli nothing else, src/server only src/cli', () => {
    const importers = (edge: string, allowed: readonly string[]) =>
      modules.filter(
        (path) =>
          !allowed.includes(placeOf(path)) &&
          mentionsOf(path).some((name) => name.startsWith('src/') && placeOf(name) === edge),
      )
    expect(importers('cli/', ['cli/'])).toEqual([])
    expect(importers('server/', ['cli/', 'server/'])).toEqual([])
  })

  it('the library’s entry reaches no dependency and nothing of Node', () => {
    const reached = new Set<string>()
    const outside: string[] = []
    const visit = (path: string) => {
      if (reached.has(path)) return
      reached.add(path)
      for (const name of importsOf(path)) {
        if (name.startsWith('src/')) visit(name)
        else outside.push(`${path} imports ${name}`)
      }
    }
    visit('src/index.ts')
    expect(outside).toEqual([])
    expect(reached.size).toBeGreaterThan(10)
    expect(builtinModules.some((name) => reached.has(name))).toBe(false)
  })
})

describe('size', () => {
  it(`no source file has more than ${MAX_LINES} lines`, () => {
    const long = filesIn(sources)
      .map((path) => ({ path, lines: read(path).split('\n').length - 1 }))
      .filter(({ path, lines }) => lines > MAX_LINES && !exceptions.long.includes(path))
      .map(({ path, lines }) => `${path}: ${lines}`)
    expect(long).toEqual([])
  })

  it(`no ${BLOCK_LINES} lines in a row stand in two places`, () => {
    const places = new Map<string, string>()
    const repeated: string[] = []
    for (const path of filesIn(unrepeated)) {
      const lines = linesThatCount(read(path))
      for (let i = 0; i + BLOCK_LINES <= lines.length; i++) {
        const block = lines.slice(i, i + BLOCK_LINES)
        const text = block.map((line) => line.text).join('\n')
        const here = `${path}:${block[0]!.number}`
        const first = places.get(text)
        if (first === undefined) places.set(text, here)
        else {
          if (!exceptions.repeated.includes(path)) repeated.push(`${first} and ${here}`)
          i += BLOCK_LINES - 1
        }
      }
    }
    expect(repeated).toEqual([])
  })
})

interface Line {
  readonly number: number
  readonly text: string
}

/** Without imports, blank lines, comments, and lines of brackets and commas only. */
function linesThatCount(content: string): Line[] {
  const lines: Line[] = []
  let isImport = false
  for (const [i, raw] of content.split('\n').entries()) {
    const text = raw.trim()
    if (/^(import|export) (type )?(\*|\{|[\w$]+ from)/.test(text) || text.startsWith("import '"))
      isImport = !/from '|^import '/.test(text)
    else if (isImport) isImport = !/from '/.test(text)
    else if (/\w/.test(text) && !/^(\/\/|\/\*|\*|#|\}? ?else \{?$)/.test(text))
      lines.push({ number: i + 1, text })
  }
  return lines
}
