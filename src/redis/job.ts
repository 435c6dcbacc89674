// A job of a sieve on Redis: the process that runs it, and what it has marked and not yet confirmed.
import { checkWhole } from '../filters/filter.ts'
import type { Calls } from './calls.ts'
import { JobLock } from './job-lock.ts'
import { checkName, type Parameters } from './parameters.ts'
import type { TaggedSets } from './tagged-sets.ts'
import { TentativeMarks } from './tentative-marks.ts'

const DEFAULT_LEASE_MS = 30 * 86_400_000
const LEAST_LEASE_MS = 1000
const MOST_LEASE_MS = 3650 * 86_400_000

export function checkJob(job: unknown, leaseMs: number | undefined): void {
  if (job !== undefined) checkName(job, 'job')
  checkWhole('leaseMs', leaseMs, LEAST_LEASE_MS, MOST_LEASE_MS)
}

export class Job {
  readonly lock: JobLock
  readonly marks: TentativeMarks

  private constructor(lock: JobLock, marks: TentativeMarks) {
    this.lock = lock
    this.marks = marks
  }

  /** Throws a SieveError when another process runs the job. */
  static async start(
    name: string,
    { createdAt }: Parameters,
    job: string,
    leaseMs = DEFAULT_LEASE_MS,
    calls: Calls,
    hashes: TaggedSets,
  ): Promise<Job> {
    const lock = await JobLock.take(calls, `urlsieve:${name}|job|${job}`, `job '${job}' of sieve '${name}'`)
    try {
      // Not shared by sieves that have the name one after the other.
      const marks = new TentativeMarks(calls, `${name}|t|${createdAt}|${job}`, leaseMs)
      await hashes.startJob(marks)
      return new Job(lock, marks)
    } catch (error) {
      await lock.release()
      throw error
    }
  }
}
