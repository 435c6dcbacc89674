// The claims of the papers with their verdicts: collected from the experiments of a run, as one table.
import type { Claim, Table, Verdict } from './experiment.ts'
import type { ExperimentRecord } from './run.ts'

/** The first verdict whose condition holds; `wrong` where none does. */
export function verdict(...cases: readonly (readonly [boolean, Verdict])[]): Verdict {
  return cases.find(([holds]) => holds)?.[1] ?? 'wrong'
}

/** A claim about a filter: whether it holds at all, and whether it holds against a filter of the same memory. */
export function memoryVerdict(holds: boolean, holdsAtEqualMemory: boolean): Verdict {
  return verdict(
    [holds && holdsAtEqualMemory, 'confirmed'],
    [holds, 'confirmed only with more memory'],
    [true, 'not reproduced'],
  )
}

/** The claim that is the experiment's own question. */
export function headline({ result }: Pick<ExperimentRecord, 'result'>): Claim | undefined {
  return result.claims[0]
}

const isOurs = ({ source }: Claim): boolean => source.startsWith('ours')

export function claimTable(records: readonly ExperimentRecord[]): Table {
  return {
    title: 'Every claim and its verdict',
    note: 'Computed in this run; each command repeats one experiment. The claims of the papers come first, then ours.',
    columns: [
      { name: 'source', as: 'text' },
      { name: 'claim', as: 'text' },
      { name: 'verdict', as: 'text' },
      { name: 'number', as: 'text' },
      { name: 'command', as: 'text' },
    ],
    rows: records
      .flatMap(({ experiment, result }) => result.claims.map((claim) => ({ experiment, ...claim })))
      .sort((a, b) => Number(isOurs(a)) - Number(isOurs(b)))
      .map(({ experiment, source, claim, verdict, number }) => [
        source,
        claim,
        verdict,
        number,
        `urlsieve lab ${experiment}`,
      ]),
  }
}

/** The same table for a page in Markdown. */
export function claimMarkdown(records: readonly ExperimentRecord[]): string {
  const { columns, rows } = claimTable(records)
  const line = (cells: readonly unknown[]) =>
    `| ${cells.map((cell) => String(cell).replaceAll('|', '\\|')).join(' | ')} |\n`
  const marked = rows.map(([source, claim, verdict, number, command]) => [
    source,
    claim,
    `**${verdict}**`,
    number,
    `\`${command}\``,
  ])
  return [line(columns.map(({ name }) => name)), line(columns.map(() => '---')), ...marked.map(line)].join('')
}
