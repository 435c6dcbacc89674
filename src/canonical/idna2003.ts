// Domain labels to ASCII the 2003 way (RFC 3490 over RFC 3491 nameprep and RFC 3492 punycode), as Python's `idna`
// codec does it. The platform's URL follows UTS 46 instead: it differs (ß, emoji, joiners), and it refuses a label
// that holds `@` or `:`, which w3lib up to 2.1 encodes together with the host.

// Table B.1 of RFC 3454: characters mapped to nothing.
const nothing = /\u00ad|\u034f|\u1806|[\u180b-\u180d]|[\u200b-\u200d]|\u2060|[\ufe00-\ufe0f]|\ufeff/gu

// Tables C.1.2, C.2.2 and C.3 to C.9: prohibited; unassigned characters are allowed.
const prohibited =
  /[\u0340\u0341\u0080-\u00a0\u06dd\u070f\u1680\u180e\u2000-\u200f\u2028-\u202f\u205f-\u2063\u206a-\u206f\u2ff0-\u2ffb\u3000\ud800-\uf8ff\ufdd0-\ufdef\ufeff\ufff9-\uffff\u{1d173}-\u{1d17a}\u{1fffe}\u{1ffff}\u{2fffe}\u{2ffff}\u{3fffe}\u{3ffff}\u{4fffe}\u{4ffff}\u{5fffe}\u{5ffff}\u{6fffe}\u{6ffff}\u{7fffe}\u{7ffff}\u{8fffe}\u{8ffff}\u{9fffe}\u{9ffff}\u{afffe}\u{affff}\u{bfffe}\u{bffff}\u{cfffe}\u{cffff}\u{dfffe}\u{dffff}\u{e0001}\u{e0020}-\u{e007f}\u{efffe}-\u{10ffff}]/u

// Table D.1: characters written from right to left.
const rightToLeft =
  /[\u05be\u05c0\u05c3\u05d0-\u05ea\u05f0-\u05f4\u061b\u061f\u0621-\u063a\u0640-\u064a\u066d-\u066f\u0671-\u06d5\u06dd\u06e5\u06e6\u06fa-\u06fe\u0700-\u070d\u0710\u0712-\u072c\u0780-\u07a5\u07b1\u200f\ufb1d\ufb1f-\ufb28\ufb2a-\ufb36\ufb38-\ufb3c\ufb3e\ufb40\ufb41\ufb43\ufb44\ufb46-\ufbb1\ufbd3-\ufd3d\ufd50-\ufd8f\ufd92-\ufdc7\ufdf0-\ufdfc\ufe70-\ufe74\ufe76-\ufefc]/u

/** The ASCII form of a dotted name, or null where IDNA 2003 has none (an empty or overlong label, a mixed direction). */
export function toAscii(name: string): string | null {
  const labels = name.split(/[.\u3002\uff0e\uff61]/)
  const trailingDot = labels.at(-1) === ''
  if (trailingDot) labels.pop()
  const encoded: string[] = []
  for (const label of labels) {
    const ascii = labelToAscii(label)
    if (ascii === null) return null
    encoded.push(ascii)
  }
  return encoded.join('.') + (trailingDot ? '.' : '')
}

function labelToAscii(label: string): string | null {
  if (isAscii(label)) return fits(label)
  const prepared = nameprep(label)
  if (prepared === null) return null
  if (isAscii(prepared)) return fits(prepared)
  // Punycode is at least as long as what it encodes, of which a character has at most two units.
  return prepared.startsWith('xn--') || prepared.length > 2 * 63 ? null : fits(`xn--${punycode(prepared)}`)
}

// Longer even when composing has made one character of four, as it does at most, none fits into a label. Normalising
// takes time that grows with the square of a run of combining characters.
const MOST_LABEL = 1024

const isAscii = (text: string) => !/[^\0-\x7f]/.test(text)
const fits = (label: string) => (label.length > 0 && label.length < 64 ? label : null)

function nameprep(label: string): string | null {
  const kept = label.replace(nothing, '')
  if (kept.length > MOST_LABEL) return null
  const mapped = Array.from(kept, foldCompatibly).join('').normalize('NFKC')
  if (prohibited.test(mapped)) return null
  if (!rightToLeft.test(mapped)) return mapped
  const characters = Array.from(mapped)
  const oneWay = !characters.some((c) => !rightToLeft.test(c) && /[\p{L}\p{Mc}\p{Nl}]/u.test(c))
  return oneWay && rightToLeft.test(characters[0]!) && rightToLeft.test(characters.at(-1)!) ? mapped : null
}

// Table B.2: fold the case such that NFKC of the result folds no further.
function foldCompatibly(character: string): string {
  const folded = fold(character)
  const compatible = folded.normalize('NFKC')
  const again = Array.from(compatible, fold).join('').normalize('NFKC')
  return again === compatible ? folded : again
}

// Table B.3. A letter's upper case brought down again is its full case folding (ß to ss, ς to σ), but for the
// dotless i.
function fold(character: string): string {
  return character === '\u0131' ? character : character.toUpperCase().toLowerCase()
}

/** RFC 3492, the encoding half, with its fixed parameters. */
export function punycode(text: string): string {
  const points = Array.from(text, (c) => c.codePointAt(0)!)
  const basic = points.filter((p) => p < 0x80)
  let output = String.fromCharCode(...basic) + (basic.length > 0 ? '-' : '')
  let n = 0x80
  let delta = 0
  let bias = 72
  let done = basic.length
  while (done < points.length) {
    const next = points.reduce((least, p) => (p >= n && p < least ? p : least), 0x110000)
    delta += (next - n) * (done + 1)
    n = next
    for (const point of points) {
      if (point < n) delta++
      if (point !== n) continue
      let q = delta
      for (let k = 36; ; k += 36) {
        const t = Math.min(Math.max(k - bias, 1), 26)
        if (q < t) break
        output += digit(t + ((q - t) % (36 - t)))
        q = Math.floor((q - t) / (36 - t))
      }
      output += digit(q)
      bias = adapt(delta, done + 1, done === basic.length)
      delta = 0
      done++
    }
    delta++
    n++
  }
  return output
}

const digit = (value: number) => 'abcdefghijklmnopqrstuvwxyz0123456789'[value]!

function adapt(delta: number, points: number, first: boolean): number {
  let d = first ? Math.floor(delta / 700) : delta >> 1
  d += Math.floor(d / points)
  let k = 0
  for (; d > 455; k += 36) d = Math.floor(d / 35)
  return k + Math.floor((36 * d) / (d + 38))
}
