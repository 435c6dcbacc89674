// What a server says while it runs: one line of text or one JSON object each, to stderr. URLs, items and passwords are
// never in it.

export type Level = 'info' | 'warn' | 'error'
export type Fields = Readonly<Record<string, string | number | boolean>>
export type Log = (level: Level, event: string, fields?: Fields) => void

/** Writes with `write`, a line at a time. */
export function logTo(write: (line: string) => unknown, isJson: boolean): Log {
  return (level, event, fields = {}) => {
    const time = new Date().toISOString()
    if (isJson) {
      write(`${JSON.stringify({ time, level, event, ...fields })}\n`)
      return
    }
    const said = Object.entries(fields).map(([name, value]) => `${name}=${JSON.stringify(value)}`)
    write(`${[time, level, event, ...said].join(' ')}\n`)
  }
}
