// A table for people: columns aligned, numbers to the right.
/** Rows of cells as aligned text; a column whose cells all look like numbers is set to the right. */
export function table(head, rows) {
    const cells = rows.map((row) => row.map(String));
    const widths = head.map((title, c) => Math.max(title.length, ...cells.map((row) => row[c].length)));
    const right = head.map((_, c) => cells.every((row) => /^[-−~]?[\d.,]+(e[-+]?\d+)?( .?i?B| %)?$|^[-–]$/.test(row[c])));
    const line = (row) => row
        .map((cell, c) => (right[c] ? cell.padStart(widths[c]) : cell.padEnd(widths[c])))
        .join('  ')
        .trimEnd();
    return `${[line(head), line(widths.map((width) => '-'.repeat(width))), ...cells.map(line)].join('\n')}\n`;
}
