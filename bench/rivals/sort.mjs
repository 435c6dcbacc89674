// sort -u: the same lines in another order; spills to disk instead of running out of memory.

import { missingProgram, programVersion } from '../programs.mjs'

export const commands = [
  {
    name: 'sort-u',
    program: 'sort',
    args: () => ['-u'],
    keepsOrder: false,
    missing: () => missingProgram('sort'),
    version: () => programVersion('sort'),
  },
]
