// Which runs have their filter in memory: all, as long as there is memory for them; else the smaller ones, where a filter spares as
// many reads with less memory. A run for which there is none when it is written has no filter in its file either.
import type { Run } from './run.ts'
import { FilterPages, filterBlocks, filterPages, RunFilter } from './run-filter.ts'

export class RunFilters {
  readonly #pages: FilterPages

  constructor(limitBytes: number) {
    this.#pages = new FilterPages(limitBytes)
  }

  /** Reads the filters of runs that have one in their file, the smallest first. A run whose filter is damaged goes without. */
  read(runs: readonly Run[]): void {
    for (const run of bySize(runs)) {
      const blocks = run.header.filterBlocks
      const filter = run.filter || blocks === 0 ? null : RunFilter.create(blocks, this.#pages)
      try {
        if (filter) run.readFilter(filter)
      } catch {
        // All of its hashes are in its blocks, which are read instead; `verify` reports it.
      }
    }
  }

  /** An empty filter for a run of so many hashes. Larger runs give theirs up for it. Null: there is no memory. */
  make(hashes: number, runs: readonly Run[]): RunFilter | null {
    const blocks = filterBlocks(hashes)
    const needed = filterPages(blocks)
    const larger = bySize(runs).filter(({ filter }) => filter && filter.pages > needed)
    let available = this.#pages.available
    while (available < needed) {
      const run = larger.pop()
      if (!run) return null
      available += run.filter!.pages
      run.dropFilter()
    }
    return RunFilter.create(blocks, this.#pages)
  }
}

const bySize = (runs: readonly Run[]) => [...runs].sort((a, b) => a.header.hashes - b.header.hashes)
