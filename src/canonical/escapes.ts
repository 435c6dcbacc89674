// Percent-escapes: the spellings that RFC 3986, section 6.2.2, calls equivalent, and characters that it never allows
// bare. What is reserved is neither decoded nor encoded: `%2F` is not a slash.

const PERCENT = 0x25

// Those with a small letter, and those of unreserved characters: 2D 2E 30–39 41–5A 5F 61–7A 7E.
const otherEscape = /%(?:[a-f][0-9A-Fa-f]|[0-9A-F][a-f]|2[DE]|3[0-9]|4[1-9A-F]|5[0-9AF]|6[1-9A-F]|7[0-9AE])/g
// RFC 3986 has no place for these; the platform leaves some of them bare in a path or a query.
const unwise = /[\\^`{|}[\]]/g

const escapes = Array.from({ length: 256 }, (_, i) => `%${i.toString(16).toUpperCase().padStart(2, '0')}`)
const isUnreserved = Array.from({ length: 256 }, (_, i) => /[A-Za-z0-9\-._~]/.test(String.fromCharCode(i)))

/** The escape of a byte, in capitals. */
export const percent = (byte: number): string => escapes[byte]!

/** The text with each of its escapes replaced, by the byte it stands for. */
export function replaceEscapes(text: string, replacement: (byte: number) => string): string {
  let replaced = ''
  let done = 0
  for (let at = text.indexOf('%'); at >= 0; at = text.indexOf('%', at + 1)) {
    const [first, second] = [text.charCodeAt(at + 1), text.charCodeAt(at + 2)]
    if (!isHexDigit(first) || !isHexDigit(second)) continue
    if (done < at) replaced += text.slice(done, at)
    replaced += replacement(16 * hexValue(first) + hexValue(second))
    at += 2
    done = at + 1
  }
  return done === 0 ? text : replaced + text.slice(done)
}

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/** The text with all its escapes decoded as UTF-8; U+FFFD stands for bytes that are not. */
export function decodeUtf8Escapes(text: string): string {
  const bytes = encoder.encode(text)
  let length = 0
  for (let at = 0; at < bytes.length; at++) {
    const isEscape = bytes[at] === PERCENT && isHexDigit(bytes[at + 1]!) && isHexDigit(bytes[at + 2]!)
    bytes[length++] = isEscape ? 16 * hexValue(bytes[++at]!) + hexValue(bytes[++at]!) : bytes[at]!
  }
  return decoder.decode(bytes.subarray(0, length))
}

/** Escaped letters, digits and `-._~` decoded, all other escapes in capitals. Idempotent. */
export const normaliseEscapes = (text: string): string =>
  text.replace(otherEscape, (spelled, at: number) => {
    const byte = Number.parseInt(spelled.slice(1), 16)
    const isDecoded = isUnreserved[byte] && !(isHexDigit(byte) && followsBarePercent(text, at))
    return isDecoded ? String.fromCharCode(byte) : percent(byte)
  })

const isHexDigit = (code: number) =>
  (code >= 0x30 && code <= 0x39) || ((code | 0x20) >= 0x61 && (code | 0x20) <= 0x66)

const hexValue = (digit: number) => (digit & 0x0f) + (digit > 0x39 ? 9 : 0)

// A bare `%` would make an escape of its own with the digit that is decoded behind it: `%%34%31` is not `%41`.
function followsBarePercent(text: string, at: number): boolean {
  return text[at - 1] === '%' || (text[at - 2] === '%' && isHexDigit(text.charCodeAt(at - 1)))
}

export const escapeUnwise = (text: string): string => text.replace(unwise, (c) => percent(c.charCodeAt(0)))
