// runiq (Rust): keeps a hash of every line by default; reads a named file. `cargo install runiq`.

import { missingProgram, programVersion } from '../programs.mjs'

export const commands = [
  {
    name: 'runiq',
    program: 'runiq',
    args: ({ inputFile }) => [inputFile],
    missing: () => missingProgram('runiq'),
    version: () => programVersion('runiq'),
  },
]
