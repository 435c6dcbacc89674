// How many connections a client has opened, from its events: one listener per client, however many sieves use it.

interface Emitter {
  on?(event: string, listener: () => void): unknown
}

const counts = new WeakMap<object, { connections: number }>()

/** Counts events that come before the first command on a new connection. Nothing for a client without events. */
export function countConnections(
  client: object,
  ...events: readonly string[]
): { connections?: () => number } {
  if (typeof (client as Emitter).on !== 'function') return {}
  let count = counts.get(client)
  if (!count) {
    count = { connections: 0 }
    counts.set(client, count)
    const one = count
    for (const event of events) (client as Required<Emitter>).on(event, () => one.connections++)
  }
  const one = count
  return { connections: () => one.connections }
}
