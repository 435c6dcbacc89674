// Parameters decoded as the platform's form decoder does it, bytes that are not UTF-8 included.
import { expect, it } from 'vitest'
import { formParameters, parameterName } from '../../src/canonical/parameters.ts'
import { randomFrom } from '../support/random.mjs'

const pieces =
  'a = + %20 %2B %26 %3d % %4 %zz %e9 %C3%A9 %c3 %F0%9F%98%80 %f0%9f %ef%bb%bf %ed%a0%80 %ff %00 / ? ;'.split(
    ' ',
  )

it('20,000 random queries: what URLSearchParams gives', () => {
  const random = randomFrom(8)
  for (let i = 0; i < 20_000; i++) {
    const parts = Array.from({ length: 1 + Math.floor(random() * 8) }, () =>
      random() < 0.2 ? '&' : pieces[Math.floor(random() * pieces.length)]!,
    )
    const query = parts.join('')
    const expected = new URLSearchParams(`?${query}`)
    const names = query.split('&').filter((parameter) => parameter !== '')
    if (names.map(parameterName).join('\n') !== [...expected.keys()].join('\n')) {
      expect(names.map(parameterName), query).toEqual([...expected.keys()])
    }
    const form = formParameters(`http://a.example/?${query}`)
    const written = expected.toString()
    if (form !== `http://a.example/${written && `?${written}`}`) expect(form, query).toBe(written)
  }
})
