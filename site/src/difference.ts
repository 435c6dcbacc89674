// The difference between two spellings of a URL, by character: the longest common subsequence, with short coincidental
// matches counted as changed.

export interface Part {
  readonly text: string
  readonly changed: boolean
}

/** Past this many comparisons the whole middle counts as changed. */
const MOST_CELLS = 4_000_000
/** Shorter common runs between two changes count as changed. */
const LEAST_COMMON = 3

function commonStart(a: string, b: string): number {
  let n = 0
  while (n < a.length && n < b.length && a[n] === b[n]) n++
  return n
}

// Which characters of a and of b belong to a longest common subsequence.
function common(a: string, b: string): { inA: boolean[]; inB: boolean[] } {
  const inA = new Array<boolean>(a.length).fill(false)
  const inB = new Array<boolean>(b.length).fill(false)
  if (a.length * b.length > MOST_CELLS) return { inA, inB }
  const width = b.length + 1
  const longest = new Uint16Array((a.length + 1) * width)
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      const at = i * width + j
      longest[at] =
        a[i] === b[j] ? longest[at + width + 1]! + 1 : Math.max(longest[at + width]!, longest[at + 1]!)
    }
  }
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    if (a[i] === b[j]) {
      inA[i++] = true
      inB[j++] = true
    } else if (longest[(i + 1) * width + j]! >= longest[i * width + j + 1]!) i++
    else j++
  }
  return { inA, inB }
}

function partsOf(text: string, isCommon: readonly boolean[]): Part[] {
  const parts: Part[] = []
  for (let from = 0; from < text.length; ) {
    let to = from
    while (to < text.length && isCommon[to] === isCommon[from]) to++
    parts.push({ text: text.slice(from, to), changed: !isCommon[from] })
    from = to
  }
  return parts
}

// Marks common runs shorter than LEAST_COMMON as changed on both sides, so that the rest stays aligned.
function withoutNoise(inA: boolean[], inB: boolean[]): void {
  const runs: { a: number; b: number; length: number }[] = []
  for (let i = 0, j = 0; i < inA.length && j < inB.length; ) {
    if (!inA[i]) i++
    else if (!inB[j]) j++
    else {
      const run = runs.at(-1)
      if (run && run.a + run.length === i && run.b + run.length === j) run.length++
      else runs.push({ a: i, b: j, length: 1 })
      i++
      j++
    }
  }
  for (const { a, b, length } of runs) {
    if (length >= LEAST_COMMON || (a === 0 && b === 0)) continue
    inA.fill(false, a, a + length)
    inB.fill(false, b, b + length)
  }
}

/** Both texts in parts, each marked as changed or not. */
export function difference(before: string, after: string): { before: Part[]; after: Part[] } {
  const start = commonStart(before, after)
  const reversed = (text: string) => [...text.slice(start)].reverse().join('')
  const end = commonStart(reversed(before), reversed(after))
  const middleOf = (text: string) => text.slice(start, text.length - end)
  const { inA, inB } = common(middleOf(before), middleOf(after))
  withoutNoise(inA, inB)
  const wrap = (text: string, isCommon: readonly boolean[]): Part[] =>
    [
      { text: text.slice(0, start), changed: false },
      ...partsOf(middleOf(text), isCommon),
      { text: text.slice(text.length - end), changed: false },
    ].filter((part) => part.text !== '')
  return { before: wrap(before, inA), after: wrap(after, inB) }
}
