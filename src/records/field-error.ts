// What is said of a field that is not there.
import { SieveError } from '../errors.ts'

const MOST_NAMES = 20

/** `option`: what messages call the choice of the field. */
export function fieldError(option: string, got: string | undefined, expected: string): SieveError {
  const given = got === undefined ? 'is not given' : `'${got}'`
  return new SieveError('option', `--${option} ${given}: expected ${expected}`, { option, got, expected })
}

/** The first of some names. */
export const listed = (names: readonly string[]) =>
  names.slice(0, MOST_NAMES).join(', ') + (names.length > MOST_NAMES ? ', …' : '')
