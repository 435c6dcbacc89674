// The two dialects of BF.*: RedisBloom's on Redis, and valkey-bloom's on Valkey. Their commands are the same but for the
// replies, error texts and defaults here, and the commands of valkey-bloom.ts.
import type { VerdictForm } from './replies.ts'

export type DialectName = 'redis' | 'valkey'

export const dialectNames: readonly DialectName[] = ['redis', 'valkey']

export interface Dialect {
  readonly name: DialectName
  /** The version of Redis reported: clients choose their commands by it. */
  readonly redisVersion: string
  /** What HELLO and INFO report besides. */
  readonly serverVersion: string
  readonly moduleVersion: number
  /** What TYPE returns for a filter of BF.*. */
  readonly bloomType: string
  /** How BF.ADD and BF.EXISTS reply. */
  readonly form: VerdictForm
  /** A command whose items do not all fit into a filter that does not grow adds none of them. */
  readonly isWhole: boolean
}

export const dialects: Readonly<Record<DialectName, Dialect>> = {
  redis: {
    name: 'redis',
    redisVersion: '7.4.0',
    serverVersion: '7.4.0',
    moduleVersion: 20_800,
    bloomType: 'MBbloom--',
    form: 'verdicts',
    isWhole: false,
  },
  valkey: {
    name: 'valkey',
    redisVersion: '7.2.4',
    serverVersion: '8.1.0',
    moduleVersion: 10_000,
    bloomType: 'bloomfltr',
    form: 'integers',
    isWhole: true,
  },
}
