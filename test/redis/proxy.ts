// A TCP proxy between a client and a node, to lose answers and to cut the line.
import { connect, createServer, type Socket } from 'node:net'

export interface Line {
  readonly port: number
  /** Requests still pass, answers no more: until the line is cut. */
  loseAnswers(): void
  /** Lets so many bytes of answers pass, and then cuts the line. */
  cutAfter(bytes: number): void
  /** Ends every connection; new ones are refused until `mend`. */
  cut(): void
  mend(): void
  stop(): Promise<void>
}

export async function startProxy(target: number): Promise<Line> {
  const sockets = new Set<Socket>()
  let isCut = false
  let isMute = false
  let left = Number.POSITIVE_INFINITY
  const cut = () => {
    isCut = true
    for (const socket of sockets) socket.destroy()
  }
  const server = createServer((client) => {
    if (isCut) {
      client.destroy()
      return
    }
    const node = connect(target, '127.0.0.1')
    for (const socket of [client, node]) {
      sockets.add(socket)
      socket.setNoDelay(true)
      socket.on('error', () => {})
      socket.on('close', () => {
        sockets.delete(socket)
        client.destroy()
        node.destroy()
      })
    }
    client.on('data', (bytes) => node.write(bytes))
    node.on('data', (bytes) => {
      if (isMute) return
      left -= bytes.length
      if (left < 0) cut()
      else client.write(bytes)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as { port: number }).port,
    loseAnswers() {
      isMute = true
    },
    cutAfter(bytes) {
      left = bytes
    },
    cut,
    mend() {
      isCut = false
      isMute = false
      left = Number.POSITIVE_INFINITY
    },
    async stop() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
