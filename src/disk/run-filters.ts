// Which runs have their filter in memory: all, as long as there is memory for them; else the smaller ones, where a filter spares as
// many reads with less memory. A run for which there is none when it is written has no filter in its file either.
import type { Run } from './run.ts'
import { FilterPages, filterBlocks, filterPages, RunFilter } from './run-filter.ts'

export class RunFilters {
  readonly #pages: FilterPages

  constructor(limitBytes: number) {
    this.#pages = new FilterPages(limitBytes)
  }

  /** Reads the filters of runs that have one in their file, the smallest first. */
  read(runs: readonly Run[]): void {
    for (const run of bySize(runs)) {
      const blocks = run.header.filterBlocks
      if (run.filter || blocks === 0 || filterPages(blocks) > this.#pages.available) continue
      run.readFilter(new RunFilter(blocks, this.#pages))
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
    return new RunFilter(blocks, this.#pages)
  }
}

const bySize = (runs: readonly Run[]) => [...runs].sort((a, b) => a.header.hashes - b.header.hashes)
