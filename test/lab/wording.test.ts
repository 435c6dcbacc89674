import { describe, expect, it } from 'vitest'
import { count, factor, listed, percent } from '../../src/lab/wording.ts'

describe('wording', () => {
  it('shows numbers as people read them', () => {
    expect(count(3_500_000.4)).toBe('3,500,000')
    expect([0, 1, 0.05, 0.1234, 0.000431, 0.99988, 3e-9].map(percent)).toEqual([
      '0 %',
      '100 %',
      '5 %',
      '12.3 %',
      '0.043 %',
      '99.99 %',
      '3.0e-7 %',
    ])
    expect([1.274, 43.2, 10_345].map(factor)).toEqual(['1.27', '43', '10,345'])
    expect([[], ['a'], ['a', 'b'], ['a', 'b', 'c']].map(listed)).toEqual(['', 'a', 'a and b', 'a, b and c'])
  })
})
