// Commands about the server itself that clients call when they connect or check a server.
import { type Command, definePlain, NOT_INTEGER, wholeOf } from './command.ts'
import { moduleOf } from './connection-commands.ts'
import { defineContainer } from './container.ts'
import { Failure } from './replies.ts'

const time = definePlain({
  name: 'TIME',
  syntax: '',
  does: 'The time of the server',
  returns: 'seconds since 1970, and microseconds',
  group: 'server',
  flags: ['fast'],
  needsNoDatabase: true,
  run() {
    const micros = Math.floor((performance.timeOrigin + performance.now()) * 1000)
    return [String(Math.floor(micros / 1_000_000)), String(micros % 1_000_000)]
  },
})

const wait = definePlain({
  name: 'WAIT',
  syntax: 'numreplicas:integer timeout:integer',
  does: 'The number of replicas that have the last writes: there are none, so it does not wait',
  returns: '0',
  group: 'generic',
  needsNoDatabase: true,
  run(call) {
    const [replicas, timeout] = [wholeOf(call.text(1)), wholeOf(call.text(2))]
    if (replicas === null) return NOT_INTEGER
    if (timeout === null) return new Failure('ERR timeout is not an integer or out of range')
    return timeout < 0 ? new Failure('ERR timeout is negative') : 0
  },
})

const role = definePlain({
  name: 'ROLE',
  syntax: '',
  does: 'The role in replication',
  returns: 'master, 0, and no replicas',
  group: 'server',
  flags: ['fast'],
  needsNoDatabase: true,
  run: () => ['master', 0, []],
})

const NO_CLUSTER = new Failure('ERR This instance has cluster support disabled')

const cluster = definePlain({
  name: 'CLUSTER',
  syntax: 'subcommand [argument ...]',
  does: 'An error: this server is not part of a Redis cluster',
  returns: 'an error',
  group: 'server',
  needsNoDatabase: true,
  run: () => NO_CLUSTER,
})

const moduleCommand = defineContainer({
  name: 'MODULE',
  does: 'The modules',
  group: 'server',
  flags: ['admin'],
  needsNoDatabase: true,
  subcommands: [
    {
      name: 'LIST',
      syntax: '',
      does: 'The module that BF.* belong to',
      returns: 'name, version, path and arguments',
      run: (call) => [moduleOf(call.server.dialect)],
    },
  ],
})

export const serverCommands: readonly Command[] = [time, wait, role, cluster, moduleCommand]
