// huniq (Rust): keeps a 64-bit hash of every line. `cargo install huniq`.

import { missingProgram, programVersion } from '../programs.mjs'

export const commands = [
  {
    name: 'huniq',
    program: 'huniq',
    args: () => [],
    missing: () => missingProgram('huniq'),
    version: () => programVersion('huniq'),
  },
]
