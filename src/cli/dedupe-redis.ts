// `urlsieve dedupe --redis URL`: the same job through a sieve on Redis or a cluster, shared with other processes.
import { SieveError, wording } from '../errors.ts'
import { formatCounted } from '../quantities.ts'
import {
  type ConnectOptions,
  connectRedis,
  type Patience,
  RedisSieve,
  RedisSieveError,
  type Shape,
  UNKNOWN,
} from '../redis/index.ts'
import { type DedupeRequest, runDedupe } from './dedupe-run.ts'
import { LineTarget } from './dedupe-target.ts'

interface Request extends DedupeRequest {
  readonly url: string
  readonly name: string
  readonly connect: ConnectOptions
  readonly calls: Patience
  readonly shape: Shape
  readonly job?: string
}

export async function dedupeRedis(request: Request): Promise<void> {
  const { name, shape, connect, calls, job } = request
  const connection = await connectRedis(request.url, connect)
  try {
    const sieve = await RedisSieve.open({
      client: connection.client,
      name,
      ...calls,
      ...shape,
      ...(job !== undefined && { job }),
    })
    // When the cluster fails on the way, lines whose verdict is not known are printed as new and counted apart.
    let trouble: RedisSieveError | null = null
    let unknown = 0
    const addLines = async (bytes: Uint8Array) => {
      if (trouble) throw gaveUp(trouble, unknown, request.keep)
      try {
        return await sieve.addLines(bytes)
      } catch (error) {
        if (!(error instanceof RedisSieveError)) throw error
        trouble = error
        for (const verdict of error.verdicts) unknown += Number(verdict === UNKNOWN)
        return error.verdicts
      }
    }
    const end = async () => {
      const sizeBytes = request.stats && !trouble ? (await sieve.stats()).sizeBytes : null
      await sieve.close()
      return { invalid: sieve.invalid, sizeBytes, unknown }
    }
    const confirm = async () => {
      if (!trouble) await sieve.confirm()
    }
    await runDedupe(new LineTarget({ addLines, confirm }, request.keep, end), request)
    if (trouble) throw gaveUp(trouble, unknown, request.keep)
  } finally {
    await connection.close()
  }
}

function gaveUp(
  { code, wording: failure }: RedisSieveError,
  unknown: number,
  keep: 'new' | 'seen',
): SieveError {
  const what = keep === 'new' ? 'printed as new' : 'not printed'
  return new SieveError(
    code,
    wording`${failure}; stopped there: ${formatCounted(unknown, 'line without a verdict was', 'lines without a verdict were')} ${what}`,
  )
}
