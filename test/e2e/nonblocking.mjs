// node nonblocking.mjs <descriptor> <note> <program> <args…>: starts the program with this process's own stdin,
// stdout and stderr, and sets one of them to non-blocking under it, as a terminal or another program may do.
// Writes to the file <note> whether the program's descriptor is so.
import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { Socket } from 'node:net'

const [descriptor, note, program, ...args] = process.argv.slice(2)
const child = spawn(program, args, { stdio: 'inherit' })
// Opening a pipe as a socket sets the flag, and the program shares it; nothing is read from it here.
const socket = new Socket({ fd: Number(descriptor), manualStart: true })
const { flags } = /flags:\s*(?<flags>[0-7]+)/.exec(
  readFileSync(`/proc/${child.pid}/fdinfo/${descriptor}`, 'utf8'),
).groups
writeFileSync(note, (Number.parseInt(flags, 8) & 0o4000) !== 0 ? 'non-blocking' : 'blocking')
child.on('close', (code) => {
  socket.unref()
  process.exit(code ?? 1)
})
