// Native C++ programs that do the same job on one thread: what there is left to gain. Built with g++ when it is installed.

import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { missingProgram, programVersion } from '../programs.mjs'

const xxhashHeader = '/usr/include/xxhash.h'

/** Compiles the program unless it is newer than its source. */
function build(source, program) {
  if (existsSync(program) && statSync(program).mtimeMs > statSync(source).mtimeMs) return
  mkdirSync(dirname(program), { recursive: true })
  execFileSync('g++', ['-O3', '-march=native', '-std=c++17', '-o', program, source])
}

/** A command whose source is beside this file, and what it needs besides g++. */
function native(name, file, missingOther = () => undefined) {
  const source = fileURLToPath(new URL(`${file}.cpp`, import.meta.url))
  const program = fileURLToPath(new URL(`../.data/${file}`, import.meta.url))
  return {
    name,
    program,
    args: () => [],
    missing() {
      const reason = missingProgram('g++') ?? missingOther()
      if (reason === undefined) build(source, program)
      return reason
    },
    version: () => programVersion('g++'),
  }
}

export const commands = [native('native-c++', 'native')]

/** mmap, memchr and XXH3: reads a file only. */
export const xxh3Commands = [
  native('native-xxh3', 'native-xxh3', () =>
    existsSync(xxhashHeader) ? undefined : `${xxhashHeader} is not there: install libxxhash-dev`,
  ),
]
