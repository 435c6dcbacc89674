// A table as CSV (RFC 4180): numbers with all their digits, text quoted where it must be, an empty cell for null.
import type { Cell, Table } from './experiment.ts'

export function csv({ columns, rows }: Table): string {
  const lines = [columns.map(({ name }) => name), ...rows]
  return lines.map((cells) => `${cells.map(field).join(',')}\r\n`).join('')
}

function field(cell: Cell): string {
  const text = cell === null ? '' : String(cell)
  return /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
