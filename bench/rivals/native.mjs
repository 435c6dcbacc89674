// A native C++ program that does the same job on one thread: what there is left to gain. Built with g++ when it is
// installed.

import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { missingProgram, programVersion } from '../programs.mjs'

const source = fileURLToPath(new URL('native.cpp', import.meta.url))
const program = fileURLToPath(new URL('../.data/native', import.meta.url))

/** Compiles the program unless it is newer than its source; why that is impossible, or undefined. */
function missing() {
  const compiler = missingProgram('g++')
  if (compiler) return compiler
  if (existsSync(program) && statSync(program).mtimeMs > statSync(source).mtimeMs) return undefined
  mkdirSync(dirname(program), { recursive: true })
  execFileSync('g++', ['-O3', '-march=native', '-std=c++17', '-o', program, source])
  return undefined
}

export const commands = [
  {
    name: 'native-c++',
    program,
    args: () => [],
    missing,
    version: () => programVersion('g++'),
  },
]
