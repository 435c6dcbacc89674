// gawk: the classic one-liner, every line a key of an associative array.

import { missingProgram, programVersion } from '../programs.mjs'

export const commands = [
  {
    name: 'gawk',
    program: 'gawk',
    args: () => ['!s[$0]++'],
    missing: () => missingProgram('gawk'),
    version: () => programVersion('gawk'),
  },
]
