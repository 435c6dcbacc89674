// The HTTP server on a socket.
import type { AddressInfo } from 'node:net'
import type { SieveRegistry } from '../registry.ts'
import { type HttpOptions, makeApp } from './app.ts'

export type { HttpOptions } from './app.ts'
export { isLoopback } from './guard.ts'
export { HTTP_LIMITS, type HttpLimits } from './limits.ts'

/** Listens; port 0 takes a free one. `close` finishes running requests first, and leaves the registry open. */
export async function openHttp(
  registry: SieveRegistry,
  options: HttpOptions,
): Promise<{ port: number; close(): Promise<void> }> {
  const { app, close } = await makeApp(registry, options)
  try {
    await app.listen({ host: options.host, port: options.port })
  } catch (error) {
    await close()
    throw error
  }
  return { port: (app.server.address() as AddressInfo).port, close }
}
