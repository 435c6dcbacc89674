// The verdicts of one call as they come: those of a slow or failing node do not hold back those of the others.

/** Some answers of a call with many URLs: their places in the list, and the answer for each. */
export interface VerdictPart {
  readonly indexes: Uint32Array
  readonly verdicts: Uint8Array
}

export type OnPart = (part: VerdictPart) => void

/** Starts `run`, and gives what it reports; after the last part it throws what `run` threw. */
export function verdictParts(run: (onPart: OnPart) => Promise<unknown>): AsyncGenerator<VerdictPart, void> {
  const parts: VerdictPart[] = []
  let isOver = false
  let wake = () => {}
  const ending = run((part) => {
    parts.push(part)
    wake()
  }).finally(() => {
    isOver = true
    wake()
  })
  ending.catch(() => {}) // thrown below, if anyone is there to see it
  return (async function* () {
    for (;;) {
      yield* parts.splice(0)
      if (isOver && parts.length === 0) break
      if (parts.length > 0) continue
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    }
    await ending
  })()
}
