// What runs on the server for a shared frontier: each script is one step, whole or not at all, since all keys of a
// frontier have one hash tag. Calls may be repeated: a token names one hold or one taking, and the tokens that are
// concluded are remembered for a while.
//
// KEYS: 1 texts (hash: id → text), 2 a guard that never exists (see scripts.ts), 3 pending (list of entries), 4 leased
// (sorted set: token → when its lease ends), 5 takings (hash: token → entry, or `h` and the number of texts held),
// 6 answered (sorted set: concluded token → when), 7 counts (hash). An entry is a state, one character, and an id. An
// id is the token of its hold, a colon and a number from 1. Times are the server's, in ms since 1970.
import { type Script, script } from './scripts.ts'

/** How long concluded tokens are remembered: longer than any call is tried. */
const ANSWERED_MS = 120_000
/** Leases that end are collected this many at a time. */
const COLLECTED = 100

/** Whether the sieve has the key of an entry: `=` it has, `?` it may have, `-` it was not queried. */
export const STATE = { marked: '=', unsure: '?', unmarked: '-' } as const
const { marked, unsure, unmarked } = STATE
/** In place of a state: what is withdrawn counts as handled. */
export const HANDLED = 'h'

const PRELUDE = `
local texts, pending, leased, takings, answered, counts = KEYS[1], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7]
local call, sub = redis.call, string.sub
local time = call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local token = ARGV[1]
local function concluded(one) return call('ZSCORE', answered, one) and 1 or 0 end
local function conclude(one)
  call('HDEL', takings, one)
  call('ZREM', leased, one)
  call('ZREMRANGEBYSCORE', answered, '-inf', now - ${ANSWERED_MS})
  call('ZADD', answered, now, one)
end`

// Of a taking or hold whose lease ended: its entries go back to the head.
const COLLECT = `
for _, one in ipairs(call('ZRANGEBYSCORE', leased, '-inf', now, 'LIMIT', 0, ${COLLECTED})) do
  local taking = call('HGET', takings, one)
  local state = taking and sub(taking, 1, 1)
  if state == 'h' then
    for i = tonumber(sub(taking, 2)), 1, -1 do call('LPUSH', pending, '${unsure}' .. one .. ':' .. i) end
  elseif state then
    if state == '${unmarked}' then state = '${unsure}' end
    call('LPUSH', pending, state .. sub(taking, 2))
  end
  call('HDEL', takings, one)
  call('ZREM', leased, one)
  call('HINCRBY', counts, 'expired', 1)
end`

const step = (text: string): Script => script(PRELUDE + text)

export const frontierScripts = {
  /** ARGV: token, lease in ms, texts. Writes them; they are pending when released, or when the lease ends. */
  hold: step(`
if concluded(token) == 1 or call('HEXISTS', takings, token) == 1 then return 1 end
for i = 3, #ARGV do call('HSET', texts, token .. ':' .. (i - 2), ARGV[i]) end
call('HSET', takings, token, 'h' .. (#ARGV - 2))
call('ZADD', leased, now + ARGV[2], token)
return 1`),

  /** ARGV: token, state or `h`, 1 for the head and 0 for the end, numbers withdrawn. 0: the lease had ended. */
  release: step(`
local hold = call('HGET', takings, token)
if not hold then return concluded(token) end
local withdrawn = {}
for i = 4, #ARGV do
  withdrawn[tonumber(ARGV[i])] = true
  call('HDEL', texts, token .. ':' .. ARGV[i])
end
local count, isFirst = tonumber(sub(hold, 2)), ARGV[3] == '1'
for n = 1, count do
  local i = isFirst and count + 1 - n or n
  if not withdrawn[i] then call(isFirst and 'LPUSH' or 'RPUSH', pending, ARGV[2] .. token .. ':' .. i) end
end
if ARGV[2] == '${HANDLED}' then call('HINCRBY', counts, 'handled', #ARGV - 3) end
conclude(token)
return 1`),

  /** ARGV: token, lease in ms. The state and text of the next entry; nil: none. */
  next: step(`
local taking = call('HGET', takings, token)
if not taking then
  if concluded(token) == 1 then return false end${COLLECT}
  taking = call('LPOP', pending)
  if not taking then return false end
  call('HSET', takings, token, taking)
  call('ZADD', leased, now + ARGV[2], token)
end
return { sub(taking, 1, 1), call('HGET', texts, sub(taking, 2)) }`),

  /** ARGV: token, `handled` or `withdrawn`. 0: the lease had ended and the entry was collected. */
  finish: step(`
local taking = call('HGET', takings, token)
if not taking then return concluded(token) end
call('HDEL', texts, sub(taking, 2))
call('HINCRBY', counts, ARGV[2], 1)
conclude(token)
return 1`),

  /** ARGV: token, 1 for the head and 0 for the end, the new text. 0: as `finish`. */
  again: step(`
local taking = call('HGET', takings, token)
if not taking then return concluded(token) end
call('HSET', texts, sub(taking, 2), ARGV[3])
call(ARGV[2] == '1' and 'LPUSH' or 'RPUSH', pending, '${marked}' .. sub(taking, 2))
conclude(token)
return 1`),

  /** ARGV: lease in ms, tokens. For each a digit: 1 renewed, 0 collected or concluded. */
  renew: step(`
local renewed = {}
for i = 2, #ARGV do
  local is = call('ZSCORE', leased, ARGV[i])
  if is then call('ZADD', leased, now + ARGV[1], ARGV[i]) end
  renewed[i - 1] = is and '1' or '0'
end
return table.concat(renewed)`),

  /** Entries pending, leases that have ended, entries in all, entries handled, leases collected. */
  count: step(`
local function number(name) return tonumber(call('HGET', counts, name) or 0) end
return { call('LLEN', pending), call('ZCOUNT', leased, '-inf', now), call('HLEN', texts), number('handled'), number('expired') }`),
} as const
