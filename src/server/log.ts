// The log of a server: one line of text or one JSON object per event. It never contains URLs, items or passwords.

export type Level = 'info' | 'warn' | 'error'
export type Fields = Readonly<Record<string, string | number | boolean>>
export type Log = (level: Level, event: string, fields?: Fields) => void

/** Logs through `write`, one line per call. */
export function logTo(write: (line: string) => unknown, isJson: boolean): Log {
  return (level, event, fields = {}) => {
    const time = new Date().toISOString()
    if (isJson) {
      write(`${JSON.stringify({ time, level, event, ...fields })}\n`)
      return
    }
    const pairs = Object.entries(fields).map(([name, value]) => `${name}=${JSON.stringify(value)}`)
    write(`${[time, level, event, ...pairs].join(' ')}\n`)
  }
}
