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

export function trialsFor(wanted: {
  readonly isOld: boolean
  /** 'on', or why it is off. */
  readonly redis: string
  readonly runs: number
  readonly kills: number
  readonly wanted?: (cell: Cell) => boolean
}): Trial[]

export function runTrials(
  trials: readonly Trial[],
  setting: {
    readonly command: readonly string[]
    readonly isOld: boolean
    /** Of each trial. */
    readonly kills: number
    readonly lines: number
    readonly jobs: number
    /** The option that names the job of a run on Redis. */
    readonly redisJob?: string | undefined
    readonly onResult?: (result: Result) => void
  },
): Promise<Result[]>

export function tableOf(results: readonly Result[]): Row[]
