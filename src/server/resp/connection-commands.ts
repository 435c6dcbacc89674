// Commands about the connection itself: HELLO, AUTH, PING, SELECT, RESET, QUIT.
import { type Call, type Command, definePlain, SYNTAX, wholeOf, wrongArity } from './command.ts'
import type { Dialect } from './dialect.ts'
import { noDatabase } from './refusals.ts'
import { Failure, OK, Simple, Table } from './replies.ts'

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

const auth = definePlain({
  name: 'AUTH',
  syntax: '[username] password',
  returns: 'OK',
  group: 'connection',
  needsNoDatabase: true,
  does: 'Authenticates with the password',
  flags: ['noauth', 'fast'],
  isSecret: (_, i) => i > 0,
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
})

/** Whether a connection can have this name. */
export const isName = (name: string) => /^[!-~]*$/.test(name) && name.length <= MOST_NAME_LETTERS
export const BAD_NAME = new Failure('ERR Client names cannot contain spaces, newlines or special characters.')

/** The module that BF.* are of, as HELLO and MODULE LIST report it. */
export const moduleOf = ({ moduleVersion }: Dialect) =>
  new Table([
    ['name', 'bf'],
    ['ver', moduleVersion],
    ['path', ''],
    ['args', []],
  ])

function isAfterAuth(call: Call, i: number): boolean {
  for (let before = 2; before < i; before++) if (call.word(before) === 'AUTH') return true
  return false
}

const hello = definePlain({
  name: 'HELLO',
  syntax: '[protover:integer [AUTH username password] [SETNAME clientname]]',
  returns: 'names and values',
  group: 'connection',
  needsNoDatabase: true,
  does: 'Chooses RESP2 or RESP3, authenticates, names the connection',
  flags: ['noauth', 'fast'],
  isSecret: isAfterAuth,
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
      ['server', server.dialect.name],
      ['version', server.dialect.serverVersion],
      ['proto', version],
      ['id', client.id],
      ['mode', 'standalone'],
      ['role', 'master'],
      ['modules', [moduleOf(server.dialect)]],
      ['urlsieve', server.info.version],
    ])
  },
})

const ping = definePlain({
  name: 'PING',
  syntax: '[message]',
  returns: 'PONG, or the message',
  group: 'connection',
  needsNoDatabase: true,
  does: 'Returns PONG, or its argument',
  flags: ['fast'],
  run(call) {
    if (call.count > 2) return wrongArity(this.name)
    return call.count === 2 ? call.bytes(1) : new Simple('PONG')
  },
})

const echo = definePlain({
  name: 'ECHO',
  syntax: 'message',
  returns: 'the message',
  group: 'connection',
  needsNoDatabase: true,
  does: 'Returns its argument',
  flags: ['fast'],
  run: (call) => call.bytes(1),
})

const select = definePlain({
  name: 'SELECT',
  syntax: 'index:integer',
  returns: 'OK',
  group: 'connection',
  does: 'Selects database 0, the only one; after any other index, commands on sieves fail until SELECT 0',
  flags: ['fast'],
  needsNoDatabase: true,
  run(call) {
    const { client } = call
    const index = call.text(1)
    client.missingDatabase = wholeOf(index) === 0 ? undefined : index.slice(0, 32)
    return client.missingDatabase === undefined ? OK : noDatabase(client.missingDatabase)
  },
})

const reset = definePlain({
  name: 'RESET',
  syntax: '',
  returns: 'RESET',
  group: 'connection',
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
})

const quit = definePlain({
  name: 'QUIT',
  syntax: '',
  returns: 'OK',
  group: 'connection',
  needsNoDatabase: true,
  isImmediate: true,
  does: 'Ends the connection',
  flags: ['noauth', 'fast'],
  run({ client }) {
    client.isLeaving = true
    return OK
  },
})

export const connectionCommands: readonly Command[] = [auth, hello, ping, echo, select, reset, quit]
