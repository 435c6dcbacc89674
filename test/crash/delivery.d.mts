export interface Cell {
  readonly memory: string
  readonly output: string
  readonly signal: string
}

export interface Trial extends Cell {
  readonly name: string
  readonly input: string
  readonly threads: number
  readonly foldBytes: number
}

export interface Result {
  readonly trial: Trial
  readonly runs: number
  /** Runs that a signal ended. */
  readonly ended: number
  readonly problems: readonly string[]
  /** What the command said when it refused the cell. */
  readonly refused?: string
  /** The last run did not come to its end: nothing is counted below. */
  readonly isUnfinished?: boolean
  readonly lost: number
  readonly twice: number
  readonly foreign: number
}

export interface Row {
  readonly of: string
  readonly trials: number
  readonly runs: number
  readonly ended: number
  readonly losing: number
  readonly lost: number
  readonly twice: number
  readonly foreign: number
}

export function runGrid(setting: {
  readonly command: readonly string[]
  readonly isOld: boolean
  readonly wanted?: (cell: Cell) => boolean
  /** Ended runs, in all and of each cell. */
  readonly runs: number
  readonly perCell: number
  /** Of each trial. */
  readonly kills: number
  readonly lines: number
  readonly jobs: number
  /** The option that names the job of a run on Redis. */
  readonly redisJob?: string | undefined
  /** failing-disk.c as a library: half of the signals come with a write. */
  readonly library?: string | undefined
  readonly onResult?: (result: Result) => void
}): Promise<Result[]>

export function tableOf(results: readonly Result[]): Row[]
