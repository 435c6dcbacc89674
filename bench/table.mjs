// Aligned tables: plain text with the first column to the left and the others to the right, or Markdown.

/** Rows of cells under their titles; a cell that was not measured is a dash. */
export function table(titles, rows) {
  const cells = [titles, ...rows.map((row) => row.map((cell) => cell ?? '–'))]
  const widths = titles.map((_, column) => Math.max(...cells.map((row) => row[column].length)))
  const lines = cells.map((row) =>
    row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]) : cell.padStart(widths[i]))).join('  '),
  )
  lines.splice(1, 0, widths.map((width) => '-'.repeat(width)).join('  '))
  return lines.map((line) => line.trimEnd()).join('\n')
}

/** The same as Markdown, formatted as Biome does. */
export function markdownTable(titles, rows) {
  const cells = [titles, ...rows.map((row) => row.map((cell) => cell ?? '–'))]
  const widths = titles.map((_, column) => Math.max(3, ...cells.map((row) => row[column].length)))
  const lines = cells.map((row) => `| ${row.map((cell, i) => cell.padEnd(widths[i])).join(' | ')} |`)
  lines.splice(1, 0, `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`)
  return lines.join('\n')
}

/** A number with three significant digits and thousands separated, or nothing when there is none. */
export function figure(value) {
  if (value === undefined || value === null) return undefined
  const decimals = value === 0 ? 0 : Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))))
  return value.toLocaleString('en-US', {
    minimumFractionDigits: Math.min(decimals, 4),
    maximumFractionDigits: Math.min(decimals, 4),
  })
}

export function whole(value) {
  return value === undefined || value === null ? undefined : value.toLocaleString('en-US')
}

export function times(value) {
  return value === undefined ? undefined : `${figure(value)}×`
}
