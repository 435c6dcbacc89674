// Redis' glob patterns for names: * ? [a-z] [^a] and \ as escape. Clients choose the pattern, so a match takes at most the
// product of both lengths.

const STAR = 42
const QUESTION = 63
const OPEN = 91
const CLOSE = 93
const CARET = 94
const ESCAPE = 92
const DASH = 45

/** Matches one byte; null: any number of bytes. */
type Token = ((byte: number) => boolean) | null

// The set that begins at `at`, after its bracket, and the index of its end.
function setAt(pattern: Uint8Array, at: number): { token: Token; end: number } {
  const isNot = pattern[at] === CARET
  const ranges: [number, number][] = []
  let i = isNot ? at + 1 : at
  for (; i < pattern.length && pattern[i] !== CLOSE; i++) {
    if (pattern[i] === ESCAPE && i + 1 < pattern.length) i++
    const low = pattern[i]!
    const isRange = pattern[i + 1] === DASH && i + 2 < pattern.length && pattern[i + 2] !== CLOSE
    const high = isRange ? pattern[i + 2]! : low
    if (isRange) i += 2
    ranges.push([Math.min(low, high), Math.max(low, high)])
  }
  const token = (byte: number) => ranges.some(([low, high]) => byte >= low && byte <= high) !== isNot
  return { token, end: i }
}

function tokensOf(pattern: Uint8Array): Token[] {
  const tokens: Token[] = []
  for (let i = 0; i < pattern.length; i++) {
    const byte = pattern[i]!
    if (byte === STAR) tokens.push(null)
    else if (byte === QUESTION) tokens.push(() => true)
    else if (byte === OPEN) {
      const { token, end } = setAt(pattern, i + 1)
      tokens.push(token)
      i = end
    } else {
      const wanted = byte === ESCAPE && i + 1 < pattern.length ? pattern[++i]! : byte
      tokens.push((one) => one === wanted)
    }
  }
  return tokens
}

/** Whether a name matches. */
export function matcherOf(pattern: Uint8Array): (name: Uint8Array) => boolean {
  const tokens = tokensOf(pattern)
  return (name) => {
    let t = 0
    let n = 0
    /** The last star, and the number of bytes of the name up to the end of its match. */
    let star = -1
    let reach = 0
    while (n < name.length) {
      const token = tokens[t]
      if (t < tokens.length && token === null) {
        star = t++
        reach = n
      } else if (token?.(name[n]!)) {
        t++
        n++
      } else if (star >= 0) {
        t = star + 1
        n = ++reach
      } else return false
    }
    while (tokens[t] === null) t++
    return t === tokens.length
  }
}
