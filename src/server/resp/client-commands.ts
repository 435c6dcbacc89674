// Commands about the connection itself: HELLO, AUTH, CLIENT, PING, SELECT, RESET, QUIT.
import {
  type Call,
  type Client,
  type Command,
  type PlainCommand,
  SYNTAX,
  wholeOf,
  wrongArity,
} from './command.ts'
import { noDatabase } from './refusals.ts'
import { Failure, OK, type Reply, Simple, Table } from './replies.ts'

/** The Redis version reported: clients choose their commands by it. */
export const REDIS_VERSION = '7.4.0'
const WRONG_PASS = new Failure('WRONGPASS invalid username-password pair or user is disabled.')
const MOST_NAME_LETTERS = 128

// The only user is `default`.
function authenticate(call: Call, user: string, given: Buffer): Failure | null {
  const { password } = call.server
  if (password === undefined) return null
  if (user !== 'default' || !password.matches(given)) return WRONG_PASS
  call.client.isTrusted = true
  return null
}

const auth: PlainCommand = {
  name: 'AUTH',
  arity: -2,
  needsNoDatabase: true,
  does: 'Authenticates with the password',
  flags: ['noauth', 'fast'],
  run(call) {
    if (call.count > 3) return SYNTAX
    if (call.server.password === undefined && call.count === 2) {
      return new Failure(
        'ERR AUTH <password> called without any password configured for the default user. Are you sure your configuration is correct?',
      )
    }
    const user = call.count === 3 ? call.text(1) : 'default'
    return authenticate(call, user, call.bytes(call.count - 1)) ?? OK
  },
}

const isName = (name: string) => /^[!-~]*$/.test(name) && name.length <= MOST_NAME_LETTERS
const BAD_NAME = new Failure('ERR Client names cannot contain spaces, newlines or special characters.')

const hello: PlainCommand = {
  name: 'HELLO',
  arity: -1,
  needsNoDatabase: true,
  does: 'Chooses RESP2 or RESP3, authenticates, names the connection',
  flags: ['noauth', 'fast'],
  run(call) {
    const { client, server } = call
    let version: number | null = client.version
    if (call.count > 1) {
      version = wholeOf(call.text(1))
      if (version === null) return new Failure('ERR Protocol version is not an integer or out of range')
      if (version !== 2 && version !== 3) return new Failure('NOPROTO unsupported protocol version')
    }
    let name: string | undefined
    for (let i = 2; i < call.count; ) {
      const word = call.word(i)
      if (word === 'AUTH' && i + 2 < call.count) {
        const refused = authenticate(call, call.text(i + 1), call.bytes(i + 2))
        if (refused) return refused
        i += 3
      } else if (word === 'SETNAME' && i + 1 < call.count) {
        name = call.text(i + 1)
        if (!isName(name)) return BAD_NAME
        i += 2
      } else return new Failure(`ERR Syntax error in HELLO option '${word.toLowerCase().slice(0, 128)}'`)
    }
    if (!client.isTrusted) {
      return new Failure(
        'NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO <proto> AUTH <user> <pass> option can be used to authenticate the client and select the RESP protocol version at the same time',
      )
    }
    client.version = version as 2 | 3
    if (name !== undefined) client.name = name
    return new Table([
      ['server', 'redis'],
      ['version', REDIS_VERSION],
      ['proto', version],
      ['id', client.id],
      ['mode', 'standalone'],
      ['role', 'master'],
      [
        'modules',
        [
          new Table([
            ['name', 'bf'],
            ['ver', 20800],
            ['path', ''],
            ['args', []],
          ]),
        ],
      ],
      ['urlsieve', server.info.version],
    ])
  },
}

function lineOf({ id, address, name, version, library, connectedAt, transaction }: Client): string {
  const age = Math.floor((performance.now() - connectedAt) / 1000)
  return `id=${id} addr=${address} name=${name} age=${age} db=0 multi=${transaction.isOpen ? transaction.count : -1} watch=${transaction.watched} resp=${version} lib-name=${library.name} lib-ver=${library.version}`
}

type Subcommand = (call: Call) => Reply

const CLIENT: Readonly<Record<string, Subcommand>> = {
  ID: ({ client }) => client.id,
  GETNAME: ({ client }) => client.name,
  INFO: ({ client }) => `${lineOf(client)}\n`,
  LIST: ({ server }) => `${Array.from(server.clients, lineOf).join('\n')}\n`,
  SETNAME(call) {
    if (call.count !== 3) return wrongArity('CLIENT|SETNAME')
    const name = call.text(2)
    if (!isName(name)) return BAD_NAME
    call.client.name = name
    return OK
  },
  SETINFO(call) {
    if (call.count !== 4) return wrongArity('CLIENT|SETINFO')
    const [attribute, value] = [call.word(2), call.text(3)]
    if (!isName(value))
      return new Failure(
        `ERR ${attribute.toLowerCase()} cannot contain spaces, newlines or special characters.`,
      )
    if (attribute === 'LIB-NAME') call.client.library.name = value
    else if (attribute === 'LIB-VER') call.client.library.version = value
    else return new Failure(`ERR Unrecognized option '${attribute.slice(0, 128)}'`)
    return OK
  },
  'NO-EVICT': () => OK,
  'NO-TOUCH': () => OK,
  REPLY: (call) => (call.count === 3 && call.word(2) === 'ON' ? OK : SYNTAX),
}

const client: PlainCommand = {
  name: 'CLIENT',
  arity: -2,
  needsNoDatabase: true,
  does: `About this connection: ${Object.keys(CLIENT).join(', ')}`,
  run: (call) => subcommand(call, CLIENT),
}

/** Runs the subcommand that the second word names; an unknown one gets the error text of Redis. */
export function subcommand(call: Call, all: Readonly<Record<string, Subcommand>>): Reply {
  const word = call.word(1)
  if (Object.hasOwn(all, word)) return all[word]!(call)
  const subcommandName = call.text(1).slice(0, 128)
  return new Failure(`ERR unknown subcommand '${subcommandName}'. Try ${call.word(0)} HELP.`)
}

const ping: PlainCommand = {
  name: 'PING',
  arity: -1,
  needsNoDatabase: true,
  does: 'Returns PONG, or its argument',
  flags: ['fast'],
  run(call) {
    if (call.count > 2) return wrongArity(this.name)
    return call.count === 2 ? Buffer.from(call.bytes(1)) : new Simple('PONG')
  },
}

const echo: PlainCommand = {
  name: 'ECHO',
  arity: 2,
  needsNoDatabase: true,
  does: 'Returns its argument',
  flags: ['fast'],
  run: (call) => Buffer.from(call.bytes(1)),
}

const select: PlainCommand = {
  name: 'SELECT',
  arity: 2,
  does: 'Selects database 0, the only one; after any other index, commands on sieves fail until SELECT 0',
  flags: ['fast'],
  needsNoDatabase: true,
  run(call) {
    const { client } = call
    const index = call.text(1)
    client.missingDatabase = wholeOf(index) === 0 ? undefined : index.slice(0, 32)
    return client.missingDatabase === undefined ? OK : noDatabase(client.missingDatabase)
  },
}

const reset: PlainCommand = {
  name: 'RESET',
  arity: 1,
  needsNoDatabase: true,
  isImmediate: true,
  does: 'Resets the connection to its initial state',
  flags: ['noauth', 'fast'],
  run({ client, server }) {
    client.version = 2
    client.name = ''
    client.missingDatabase = undefined
    client.transaction.close()
    client.isTrusted = server.password === undefined
    return new Simple('RESET')
  },
}

const quit: PlainCommand = {
  name: 'QUIT',
  arity: -1,
  needsNoDatabase: true,
  isImmediate: true,
  does: 'Ends the connection',
  flags: ['noauth', 'fast'],
  run({ client }) {
    client.isLeaving = true
    return OK
  },
}

export const clientCommands: readonly Command[] = [auth, hello, client, ping, echo, select, reset, quit]
