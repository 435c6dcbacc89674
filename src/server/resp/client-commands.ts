// CLIENT: names, lists and ends connections. What it cannot do, such as tracking keys, is refused.
import { type Call, type Client, type Command, SYNTAX, wholeOf } from './command.ts'
import { BAD_NAME, isName } from './connection-commands.ts'
import { defineContainer } from './container.ts'
import { Failure, OK, type Reply, Verbatim } from './replies.ts'

function lineOf(client: Client): string {
  const { transaction, library } = client
  const now = performance.now()
  const seconds = (since: number) => Math.floor((now - since) / 1000)
  const fields = {
    id: client.id,
    addr: client.address,
    laddr: client.localAddress,
    fd: -1,
    name: client.name,
    age: seconds(client.connectedAt),
    idle: seconds(client.activeAt),
    flags: transaction.isOpen ? 'x' : 'N',
    db: 0,
    sub: 0,
    psub: 0,
    ssub: 0,
    multi: transaction.isOpen ? transaction.count : -1,
    watch: transaction.watched,
    qbuf: client.heldBytes,
    'qbuf-free': 0,
    'argv-mem': 0,
    'multi-mem': transaction.sizeBytes,
    obl: 0,
    oll: 0,
    omem: 0,
    'tot-mem': client.heldBytes,
    events: 'r',
    cmd: client.lastCommand.toLowerCase() || 'NULL',
    user: 'default',
    redir: -1,
    resp: client.version,
    'lib-name': library.name,
    'lib-ver': library.version,
  }
  return Object.entries(fields)
    .map(([name, value]) => `${name}=${value}`)
    .join(' ')
}

const TYPES = ['NORMAL', 'MASTER', 'REPLICA', 'SLAVE', 'PUBSUB']

const linesOf = (clients: Iterable<Client>) =>
  new Verbatim(Array.from(clients, (one) => `${lineOf(one)}\n`).join(''))

function list(call: Call): Reply {
  const { clients } = call.server
  if (call.count === 2) return linesOf(clients)
  const word = call.word(2)
  if (word === 'TYPE' && call.count === 4) {
    const type = call.word(3)
    if (!TYPES.includes(type)) return new Failure(`ERR Unknown client type '${call.text(3).slice(0, 128)}'`)
    return linesOf(type === 'NORMAL' ? clients : [])
  }
  if (word !== 'ID' || call.count === 3) return SYNTAX
  const ids = new Set<number>()
  for (let i = 3; i < call.count; i++) {
    const id = wholeOf(call.text(i))
    if (id === null || id < 1) return new Failure('ERR Invalid client ID')
    ids.add(id)
  }
  return linesOf([...clients].filter(({ id }) => ids.has(id)))
}

type Test = (client: Client) => boolean

/** The filters of CLIENT KILL: each takes its value, and returns a test or an error. */
const FILTERS: Readonly<Record<string, (value: string) => Test | Failure>> = {
  ID(value) {
    const id = wholeOf(value)
    return id !== null && id > 0
      ? (client) => client.id === id
      : new Failure('ERR client-id should be greater than 0')
  },
  ADDR: (value) => (client) => client.address === value,
  LADDR: (value) => (client) => client.localAddress === value,
  TYPE(value) {
    const type = value.toUpperCase()
    if (!TYPES.includes(type)) return new Failure(`ERR Unknown client type '${value.slice(0, 128)}'`)
    return () => type === 'NORMAL'
  },
  USER: (value) =>
    value === 'default' ? () => true : new Failure(`ERR No such user '${value.slice(0, 128)}'`),
  MAXAGE(value) {
    const seconds = wholeOf(value)
    if (seconds === null || seconds < 0) return new Failure('ERR maxage is not an integer or out of range')
    return ({ connectedAt }) => performance.now() - connectedAt >= seconds * 1000
  },
}

function kill(call: Call): Reply {
  const { client, server } = call
  if (call.count === 3) {
    const address = call.text(2)
    const found = [...server.clients].find((one) => one.address === address)
    if (!found) return new Failure('ERR No such client')
    end(found, client)
    return OK
  }
  let skipsSelf = true
  const tests: Test[] = []
  for (let i = 2; i < call.count; i += 2) {
    const word = call.word(i)
    if (i + 1 === call.count) return SYNTAX
    const value = call.text(i + 1)
    if (word === 'SKIPME') {
      if (!/^(yes|no)$/i.test(value)) return SYNTAX
      skipsSelf = /^yes$/i.test(value)
      continue
    }
    if (!Object.hasOwn(FILTERS, word)) return SYNTAX
    const test = FILTERS[word]!(value)
    if (test instanceof Failure) return test
    tests.push(test)
  }
  const found = [...server.clients].filter(
    (one) => !(skipsSelf && one === client) && tests.every((test) => test(one)),
  )
  for (const one of found) end(one, client)
  return found.length
}

// A client that ends itself gets its reply first.
function end(one: Client, self: Client): void {
  if (one === self) self.isLeaving = true
  else one.destroy()
}

function setInfo(call: Call): Reply {
  const [attribute, value] = [call.word(2), call.text(3)]
  if (!isName(value)) {
    const name = attribute.toLowerCase()
    return new Failure(`ERR ${name} cannot contain spaces, newlines or special characters.`)
  }
  if (attribute === 'LIB-NAME') call.client.library.name = value
  else if (attribute === 'LIB-VER') call.client.library.version = value
  else return new Failure(`ERR Unrecognized option '${attribute.slice(0, 128)}'`)
  return OK
}

const NO_TRACKING = new Failure(
  'ERR CLIENT TRACKING ON is not possible: no keys are tracked; OFF is the rule',
)

/** A verb that takes one of two words and changes nothing. */
const accepting = (name: string, does: string) => ({
  name,
  syntax: '<ON | OFF>',
  does,
  returns: 'OK',
  run: (call: Call): Reply => (['ON', 'OFF'].includes(call.word(2)) ? OK : SYNTAX),
})

const client = defineContainer({
  name: 'CLIENT',
  does: 'About connections',
  group: 'connection',
  needsNoDatabase: true,
  subcommands: [
    {
      name: 'ID',
      syntax: '',
      does: 'The number of this connection',
      returns: 'a number',
      run: (call) => call.client.id,
    },
    {
      name: 'GETNAME',
      syntax: '',
      does: 'The name of this connection',
      returns: 'the name, or nil',
      run: (call) => call.client.name || null,
    },
    {
      name: 'SETNAME',
      syntax: 'connection-name',
      does: 'Names this connection',
      returns: 'OK',
      run(call) {
        const name = call.text(2)
        if (!isName(name)) return BAD_NAME
        call.client.name = name
        return OK
      },
    },
    {
      name: 'SETINFO',
      syntax: '<LIB-NAME libname | LIB-VER libver>',
      does: 'The name or version of the client library',
      returns: 'OK',
      run: setInfo,
    },
    {
      name: 'INFO',
      syntax: '',
      does: 'This connection',
      returns: 'a line of text',
      run: (call) => linesOf([call.client]),
    },
    {
      name: 'LIST',
      syntax: '[TYPE <NORMAL | MASTER | REPLICA | PUBSUB>] [ID client-id:integer [client-id:integer ...]]',
      does: 'The connections',
      returns: 'a line of text each',
      run: list,
    },
    {
      name: 'KILL',
      syntax:
        '<address | [ID client-id:integer] [TYPE type] [USER username] [ADDR address] [LADDR address] [SKIPME <YES | NO>] [MAXAGE seconds:integer]>',
      does: 'Ends connections',
      returns: 'their number; OK for an address alone',
      run: kill,
    },
    {
      name: 'TRACKING',
      syntax: '<ON | OFF> [option ...]',
      does: 'OFF; ON is refused: no keys are tracked',
      returns: 'OK',
      run(call) {
        const word = call.word(2)
        return word === 'OFF' && call.count === 3 ? OK : word === 'ON' ? NO_TRACKING : SYNTAX
      },
    },
    {
      name: 'GETREDIR',
      syntax: '',
      does: 'Always -1: no keys are tracked',
      returns: '-1',
      run: () => -1,
    },
    accepting('NO-EVICT', 'Nothing: no connection is ended for its memory'),
    accepting('NO-TOUCH', 'Nothing: the time of the last access decides nothing'),
    {
      name: 'REPLY',
      syntax: '<ON | OFF | SKIP>',
      does: 'ON; the others are refused',
      returns: 'OK',
      run: (call) => (call.word(2) === 'ON' ? OK : SYNTAX),
    },
  ],
})

export const clientCommands: readonly Command[] = [client]
