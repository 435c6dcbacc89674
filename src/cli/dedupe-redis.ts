// `urlsieve dedupe --redis URL`: the same job through a sieve on Redis or a cluster, shared with other processes.
import { connectRedis, RedisSieve, RedisSieveError, type Shape } from '../redis/index.ts'
import { dedupeLines, type LinesRequest } from './dedupe-lines.ts'

interface Request extends LinesRequest {
  readonly url: string
  readonly name: string
  readonly retryMs?: number
  readonly shape: Shape
}

export async function dedupeRedis(request: Request): Promise<void> {
  const connection = await connectRedis(request.url)
  try {
    const { name, retryMs, shape } = request
    const patience = retryMs === undefined ? {} : { retryMs }
    const sieve = await RedisSieve.open({ client: connection.client, name, ...patience, ...shape })
    // When the cluster fails on the way, lines whose verdict is not known count as new: they go out, and then it ends.
    let trouble: RedisSieveError | null = null
    const addLines = async (bytes: Uint8Array) => {
      if (trouble) throw trouble
      try {
        return await sieve.addLines(bytes)
      } catch (error) {
        if (!(error instanceof RedisSieveError)) throw error
        trouble = error
        return error.verdicts.map((verdict) => Number(verdict !== 0))
      }
    }
    const end = async () => {
      const sizeBytes = request.stats && !trouble ? (await sieve.stats()).sizeBytes : null
      await sieve.close()
      return { invalid: sieve.invalid, sizeBytes }
    }
    await dedupeLines({ addLines, forget: (url) => sieve.delete(url), end }, request)
    if (trouble) throw trouble
  } finally {
    await connection.close()
  }
}
