// Lines that begin with a host, read as URLs (src/canonical/bare-hosts.ts).
import { withScheme } from '../canonical/bare-hosts.ts'

/** Newline-separated lines with a scheme where one is missing. */
export function withSchemes(lines: Uint8Array): Uint8Array {
  const text = Buffer.from(lines.buffer, lines.byteOffset, lines.length).toString('latin1')
  return Buffer.from(text.split('\n').map(withScheme).join('\n'), 'latin1')
}
