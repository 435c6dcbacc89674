// A table for people: columns aligned, numbers to the right.

export type Cell = string | number

/** A text in lines of at most `width` characters, cut between words. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`
    if (longer.length > width && line !== '') lines.push(line)
    line = longer.length > width ? word : longer
  }
  return [...lines, line]
}

/**
 * Rows of cells as aligned text; a column whose cells all look like numbers is set to the right. With `width`, the last
 * column is wrapped so that no line is longer.
 */
export function table(
  head: readonly string[],
  rows: readonly (readonly Cell[])[],
  width = Number.POSITIVE_INFINITY,
): string {
  const whole = rows.map((row) => row.map(String))
  const before = head
    .slice(0, -1)
    .reduce((sum, title, c) => sum + 2 + Math.max(title.length, ...whole.map((row) => row[c]!.length)), 0)
  const cells = whole.flatMap((row) =>
    wrap(row.at(-1)!, width - before).map((text, i) =>
      i === 0 ? [...row.slice(0, -1), text] : [...row.slice(0, -1).map(() => ''), text],
    ),
  )
  const widths = head.map((title, c) => Math.max(title.length, ...cells.map((row) => row[c]!.length)))
  const right = head.map((_, c) =>
    whole.every((row) => /^[-−~]?[\d.,]+(e[-+]?\d+)?( .?i?B| %)?( !)?$|^[-–]$/.test(row[c]!)),
  )
  const line = (row: readonly string[]) =>
    row
      .map((cell, c) => (right[c] ? cell.padStart(widths[c]!) : cell.padEnd(widths[c]!)))
      .join('  ')
      .trimEnd()
  return `${[line(head), line(widths.map((width) => '-'.repeat(width))), ...cells.map(line)].join('\n')}\n`
}
