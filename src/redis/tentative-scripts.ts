// What runs on the server for marks that are not confirmed. KEYS: 1 the marks of a job in a tag, a hash: the number of a call → the
// hashes that were new in it, 8 bytes each. The script that marks writes it (scripts.ts).
import { script } from './scripts.ts'

/** ARGV: lease in ms, cursor or field, 1 for a field. The next cursor, then the fields and their hashes in hexadecimal. */
export const readScript = script(`
local call, unpacked, format = redis.call, struct.unpack, string.format
local next, pairs = '0', { ARGV[2], ARGV[3] == '1' and call('HGET', KEYS[1], ARGV[2]) or '' }
if ARGV[3] ~= '1' then
  local page = call('HSCAN', KEYS[1], ARGV[2], 'COUNT', 4)
  next, pairs = page[1], page[2]
end
call('PEXPIRE', KEYS[1], ARGV[1])
for p = 2, #pairs, 2 do
  local marked, words = pairs[p] or '', {}
  for i = 1, #marked, 8 do
    local lo, hi = unpacked('<I4I4', marked, i)
    words[#words + 1] = format('%08x%08x', hi, lo)
  end
  pairs[p] = table.concat(words)
end
return { next, pairs }`)

/** ARGV: lease in ms, then fields, each with the hashes that remain in it. */
export const confirmScript = script(`
local call = redis.call
for i = 2, #ARGV, 2 do
  local was = call('HDEL', KEYS[1], ARGV[i])
  if was == 1 and ARGV[i + 1] ~= '' then call('HSET', KEYS[1], ARGV[i], ARGV[i + 1]) end
end
call('PEXPIRE', KEYS[1], ARGV[1])
return 1`)
