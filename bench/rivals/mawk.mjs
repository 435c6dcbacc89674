// mawk: the classic one-liner, every line a key of an associative array.

import { missingProgram, programVersion } from '../programs.mjs'

export const commands = [
  {
    name: 'mawk',
    program: 'mawk',
    args: () => ['!s[$0]++'],
    missing: () => missingProgram('mawk'),
    version: () => programVersion('mawk', ['-W', 'version']),
  },
]
