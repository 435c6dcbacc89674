// What a crawler's queue needs of a sieve: any sieve has it, and so may an object of your own.
import type { Answer, AnySieve } from '../any-sieve.ts'

/** Without `hasMany` every link is written to the frontier first. */
export type SeenUrls = Pick<AnySieve, 'addMany'> &
  Partial<Pick<AnySieve, 'hasMany'>> & {
    close?(): Answer<void>
    /** Forgets everything. */
    clear?(): Answer<void>
  }
