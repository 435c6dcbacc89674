// IDNA 2003 and punycode. Expected values are those of Python 3.11's `idna` and `punycode` codecs.

import { expect, it } from 'vitest'
import { punycode, toAscii } from '../../src/canonical/idna2003.ts'

it.each([
  ['bücher.example', 'xn--bcher-kva.example'],
  ['BÜCHER.Example', 'xn--bcher-kva.Example'],
  ['straße.de', 'strasse.de'],
  ['σας.gr', 'xn--mxa9ab.gr'],
  ['例え。jp.', 'xn--r8jz45g.jp.'],
  ['ｅｘ.com', 'ex.com'],
  ['ex\u00adample.com', 'example.com'],
  ['😀.ws', 'xn--e28h.ws'],
  ['אבג.com', 'xn--4dbcd.com'],
  ['ü:p@h.de', 'xn--:p@h-zra.de'],
  ['אa.com', null],
  ['א1.com', null],
  ['xn--ü.de', null],
  ['ü..de', null],
  ['.ü', null],
  [`${'ü'.repeat(63)}.de`, null],
  ['a\u0085.de', null],
  ['\u00ad.de', null],
])('%j → %j', (name, ascii) => {
  expect(toAscii(name)).toBe(ascii)
})

// RFC 3492, section 7.1: (A), (B), (I) and (S).
it.each([
  ['ليهمابتكلموشعربي؟', 'egbpdaj6bu4bxfgehfvwxn'],
  ['他们为什么不说中文', 'ihqwcrb4cv8a8dqg056pqjye'],
  ['почемужеонинеговорятпорусски', 'b1abfaaepdrnnbgefbadotcwatmq2g4l'],
  ['-> $1.00 <-', '-> $1.00 <--'],
])('punycode of %j', (text, encoded) => {
  expect(punycode(text)).toBe(encoded)
})
