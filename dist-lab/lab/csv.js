export function csv({ columns, rows }) {
    const lines = [columns.map(({ name }) => name), ...rows];
    return lines.map((cells) => `${cells.map(field).join(',')}\r\n`).join('');
}
function field(cell) {
    const text = cell === null ? '' : String(cell);
    return /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
