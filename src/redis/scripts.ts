// What runs on the server. A tag's URLs are integers in many small sets, which Redis keeps as sorted arrays up to 512
// members; the number of sets grows with the URLs, one split at a time (linear hashing, Litwin 1980).
//
// KEYS: 1 the state of the newest generation; 2 a guard that never exists; 3 the answers given last, or the guard
// again; then the states of the other generations of a window. A set's name is its generation's state key with a
// number after it. The guard makes Redis refuse the call with TRYAGAIN, on both nodes, while the slot is being moved:
// a call never meets half of its sets.
//
// ARGV: 1 the hashes, 8 bytes each; 2 the call's number; 3 when the newest generation ends, in ms since 1970, or 0; 4 the key
// that exists once the tag was left for others, or '' where that does not matter. Of an add for a job also: 5 the key that keeps
// what is new until it is confirmed, 6 the field, 7 for how many ms (tentative-scripts.ts).
// What never changes of a sieve stands in the text itself: its width, sets and so on.
//
// A state: URLs, URLs answered "seen", doublings, sets split since the last doubling.
import { createHash } from 'node:crypto'

export interface Script {
  readonly text: string
  readonly sha: string
  readonly isReadOnly: boolean
}

export interface Geometry {
  /** Bits of a member: 53, of which the tag and the first sets know the other 11, or 32. */
  readonly width: 53 | 32
  readonly tags: number
  /** Sets of a tag to begin with, before so many doublings. */
  readonly base: number
  readonly doublings: number
  /** URLs in a set on average. */
  readonly meanUrls: number
  /** How long the answers of a call are kept. */
  readonly answersMs: number
  /** How long a window is; null for ever. */
  readonly windowMs: number | null
}

const STATE = `'<I8I8I4I4'`

export const script = (text: string, isReadOnly = false): Script => ({
  text,
  sha: createHash('sha1').update(text).digest('hex'),
  isReadOnly,
})

// Numbers without exponents, as Lua reads them.
const whole = (n: number) => n.toFixed(0)

/** The scripts of a sieve. Each answers with one verdict per item, as a digit. */
export function scriptsFor(geometry: Geometry) {
  const { width, tags, base, doublings, meanUrls, answersMs, windowMs } = geometry
  const rest = 2 ** 32 / tags
  const prelude = `
local items = ARGV[1]
local call, unpacked, floor, format = redis.call, struct.unpack, math.floor, string.format
local function opened(key)
  local g = { key = key, names = string.gsub(key, '%%', '%%%%') .. '|%d', urls = 0, seen = 0, level = ${doublings}, split = 0 }
  local state = call('GET', key)
  if state then g.urls, g.seen, g.level, g.split = unpacked(${STATE}, state) end
  g.span = 2 ^ g.level
  return g
end
local function stateOf(g) return struct.pack(${STATE}, g.urls, g.seen, g.level, g.split) end
local older = {}
for k = 4, #KEYS do older[#older + 1] = opened(KEYS[k]) end`
  const refuseLeft = `
if ARGV[4] ~= '' and redis.call('GET', ARGV[4]) then return redis.error_reply('LEFT: the sieve has more tags') end`

  // Of the item at i: its cell among the first sets, the low half of its hash, and its member.
  const item = `
  local lo, hi = unpacked('<I4I4', items, i)
  local cell = (hi % ${whole(rest)}) * ${base} / ${whole(rest)}
  cell = cell - cell % 1
  local member = format('%d', ${width === 53 ? '(hi % 2097152) * 4294967296 + lo' : 'lo - 2147483648'})`
  const lowHalf = width === 53 ? 'member % 4294967296' : 'member + 2147483648'

  // The name of the item's set in a generation of that span, split and names.
  const setOf = (span: string, split: string, names: string) => `
    local at = cell + ${base} * (lo % ${span})
    if at < ${split} then at = cell + ${base} * (lo % (${span} * 2)) end
    local set = format(${names}, at)`
  const setOfOlder = setOf('o.span', 'o.split', 'o.names')

  // Whether one of the older generations has it.
  const ask = `
  local known = 0
  for k = 1, #older do
    local o = older[k]${setOfOlder}
    known = call('SISMEMBER', set, member)
    if known == 1 then break end
  end
  n = n + 1`

  // A call whose answers were lost gets them again. One that comes after a later call of its place was given up long ago:
  // it would overwrite the answers that are kept for the later one.
  const again = `
local number = ARGV[2]
local last = redis.call('GET', KEYS[3])
if last then
  local past = string.sub(last, 1, #number)
  if past == number then
    redis.call('PEXPIRE', KEYS[3], ${answersMs}) -- a write, for WAIT
    return string.sub(last, #number + 1)
  end
  if past > number then return redis.error_reply('LATE call: a later one has been answered') end
end`
  const remember = (count: string) => `
local answers = table.concat(out)
if ${count} > 0 then call('SET', KEYS[3], number .. answers, 'PX', ${answersMs}) end
return answers`

  // A client's clock may be ahead: nothing lasts longer than the window by the server's.
  const limitEnds =
    windowMs === null
      ? ''
      : `
local time = call('TIME')
local latest = time[1] * 1000 + floor(time[2] / 1000) + ${whole(windowMs)}
if tonumber(ends) > latest then ends = format('%.0f', latest) end`

  const saveState = `
if ends == '0' then call('SET', g.key, stateOf(g)) else call('SET', g.key, stateOf(g), 'PXAT', ends) end`

  const keep = `
if ARGV[5] and fresh > 0 then
  local marked = items
  if fresh < n then
    local some = {}
    for at = 1, n do
      if out[at] == '1' then some[#some + 1] = string.sub(items, 8 * at - 7, 8 * at) end
    end
    marked = table.concat(some)
  end
  call('HSET', ARGV[5], ARGV[6], marked)
  call('PEXPIRE', ARGV[5], ARGV[7])
end`

  const add = `${again}${refuseLeft}${prelude}
local g, ends = opened(KEYS[1]), ARGV[3]${limitEnds}
local size = ${base} * g.span
while g.urls + #items / 8 > ${meanUrls} * (size + g.split) do
  local from, to, moved = format(g.names, g.split), format(g.names, g.split + size), {}
  for _, member in ipairs(call('SMEMBERS', from)) do
    if floor((${lowHalf}) / g.span) % 2 == 1 then moved[#moved + 1] = member end
  end
  if #moved > 0 then
    call('SADD', to, unpack(moved))
    call('SREM', from, unpack(moved))
    if ends ~= '0' then call('PEXPIREAT', to, ends) end
  end
  g.split = g.split + 1
  if g.split == size then g.level, g.span, g.split, size = g.level + 1, g.span * 2, 0, size * 2 end
end
local span, split, names = g.span, g.split, g.names
local out, n, fresh = {}, 0, 0
for i = 1, #items, 8 do${item}${ask}
  out[n] = '0'
  if known == 0 then${setOf('span', 'split', 'names')}
    if call('SADD', set, member) == 1 then
      out[n], fresh = '1', fresh + 1
      if ends ~= '0' and call('SCARD', set) == 1 then call('PEXPIREAT', set, ends) end
    end
  end
end
g.urls, g.seen = g.urls + fresh, g.seen + n - fresh${saveState}${keep}${remember('fresh')}`

  // What is added from now on goes to other tags. It is noted every time: a write, for WAIT.
  const leave = `${again}
redis.call('SET', ARGV[4], '1')${prelude}
local g, ends = opened(KEYS[1]), ARGV[3]${limitEnds}
older[#older + 1] = g
local out, n, seen = {}, 0, 0
for i = 1, #items, 8 do${item}${ask}
  out[n], seen = known == 1 and '0' or '1', seen + known
end
if seen > 0 then
  g.seen = g.seen + seen${saveState}
end${remember('seen')}`

  const has = `${refuseLeft}${prelude}
older[#older + 1] = opened(KEYS[1])
local out, n = {}, 0
for i = 1, #items, 8 do${item}${ask}
  out[n] = known == 1 and '0' or '1'
end
return table.concat(out)`

  const forget = `${again}${refuseLeft}${prelude}
older[#older + 1] = opened(KEYS[1])
local out, n, gone = {}, 0, 0
for i = 1, #items, 8 do${item}
  n = n + 1
  out[n] = '1'
  for k = 1, #older do
    local o = older[k]${setOfOlder}
    if call('SREM', set, member) == 1 then out[n], gone, o.urls, o.changed = '0', gone + 1, o.urls - 1, true end
  end
end
for _, o in ipairs(older) do
  if o.changed then call('SET', o.key, stateOf(o), 'KEEPTTL') end
end${remember('gone')}`

  return {
    /** Marks. 1 new, 0 seen. */
    add: script(add),
    /** Marks nothing. 1 new, 0 seen. */
    has: script(has, true),
    /** Deletes. 1 was not there, 0 was. */
    forget: script(forget),
    /** Adds nothing, and ends adding here. 1 new, 0 seen. */
    leave: script(leave),
  } as const
}

/** KEYS: a state. ARGV: sets to begin with. URLs, URLs answered "seen", sets. */
export const stateScript = script(
  `
local state = redis.call('GET', KEYS[1])
if not state then return { 0, 0, 0 } end
local urls, seen, level, split = struct.unpack(${STATE}, state)
return { urls, seen, ARGV[1] * 2 ^ level + split }`,
  true,
)

/** KEYS: 1 a state, 2 the guard. ARGV: the first set to take away, how many, and how many there are. */
export const clearScript = script(`
local from, to, total = tonumber(ARGV[1]), ARGV[1] + ARGV[2], tonumber(ARGV[3])
for at = from, math.min(to, total) - 1 do redis.call('UNLINK', KEYS[1] .. '|' .. at) end
if to >= total then redis.call('UNLINK', KEYS[1]) end
return 0`)

/** KEYS: one. ARGV: its value, and another. 1: it has the other one now, also if it had it before; 0: it had neither. */
export const replaceScript = script(`
local there = redis.call('GET', KEYS[1])
if there ~= ARGV[1] and there ~= ARGV[2] then return 0 end
redis.call('SET', KEYS[1], ARGV[2])
return 1`)
