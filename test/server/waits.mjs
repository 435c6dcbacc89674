// A client that asks a server for nothing but PING and /healthz, again and again, and keeps how long the longest took. In a
// process of its own, so that nothing but the server keeps it waiting. Its parent sends 'begin' and 'end'.
import { Agent, get } from 'node:http'
import { connect } from 'node:net'

const [respPort, httpPort] = process.argv.slice(2).map(Number)
const agent = new Agent({ keepAlive: true, maxSockets: 1 })
let longest = { pingMs: 0, healthMs: 0 }
const waits = { pingMs: 0, healthMs: 0 }

const socket = connect({ port: respPort, host: '127.0.0.1', noDelay: true })
const ping = () =>
  new Promise((resolve) => {
    socket.once('data', resolve)
    socket.write('PING\r\n')
  })
const health = () =>
  new Promise((resolve, reject) => {
    get({ port: httpPort, host: '127.0.0.1', path: '/healthz', agent }, (response) => {
      response.resume().on('end', resolve)
    }).on('error', reject)
  })

async function repeat(name, ask) {
  for (;;) {
    const begun = performance.now()
    // One that is still unanswered counts from when it was asked.
    waits[name] = begun
    await ask()
    waits[name] = 0
    longest[name] = Math.max(longest[name], performance.now() - begun)
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
}

process.on('message', (word) => {
  if (word === 'end') {
    for (const name of ['pingMs', 'healthMs']) {
      if (waits[name] > 0) longest[name] = Math.max(longest[name], performance.now() - waits[name])
    }
    process.send(longest)
  }
  longest = { pingMs: 0, healthMs: 0 }
})
process.on('disconnect', () => process.exit())
socket.once('connect', () => {
  repeat('pingMs', ping)
  repeat('healthMs', health)
  process.send('ready')
})
