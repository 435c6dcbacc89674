// Commands of Redis that urlsieve does not have, with the reason, which follows the error text of an unknown command.

const SCRIPTS = 'urlsieve executes no scripts or functions'
const PUBSUB = 'urlsieve has no pub/sub'
const DUMPS = 'a sieve is moved with BF.SCANDUMP and BF.LOADCHUNK'
const USERS = 'there is one user, default, with the password of the server'
const MEMBERS = 'a set has fingerprints of its members, not the members themselves'
const SETS = 'sets cannot be combined: their members are not stored'

const REASONS: readonly (readonly [names: string, reason: string])[] = [
  ['EVAL EVALSHA EVAL_RO EVALSHA_RO SCRIPT FCALL FCALL_RO FUNCTION', SCRIPTS],
  ['SUBSCRIBE UNSUBSCRIBE PSUBSCRIBE PUNSUBSCRIBE SSUBSCRIBE SUNSUBSCRIBE PUBLISH SPUBLISH PUBSUB', PUBSUB],
  ['DUMP RESTORE MIGRATE COPY', DUMPS],
  ['MONITOR', 'urlsieve does not report the commands of other clients; INFO commandstats counts them'],
  ['ACL', USERS],
  ['SMEMBERS SSCAN SRANDMEMBER SPOP SMOVE SORT SORT_RO', MEMBERS],
  ['SINTER SINTERSTORE SINTERCARD SUNION SUNIONSTORE SDIFF SDIFFSTORE', SETS],
]

const byName: ReadonlyMap<string, string> = new Map(
  REASONS.flatMap(([names, reason]) => names.split(' ').map((name) => [name, reason] as const)),
)

/** Why a command of Redis is missing; undefined for any other word. */
export const whyUnsupported = (name: string): string | undefined => byName.get(name)

/** All of them, for the documentation. */
export const unsupported = REASONS
