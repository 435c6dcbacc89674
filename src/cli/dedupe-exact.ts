// `urlsieve dedupe --filter exact --state FOLDER`: the same job with no error at all, through LevelDB.
import { ExactSieve } from '../exact/index.ts'
import type { Durability, ProfileName } from '../index.ts'
import { dedupeLines, type LinesRequest } from './dedupe-lines.ts'

interface Request extends LinesRequest {
  readonly folder: string
  readonly profile?: ProfileName
  readonly durability?: Durability
  readonly expectedUrls?: number
}

export async function dedupeExact(request: Request): Promise<void> {
  const { profile, durability, expectedUrls } = request
  const sieve = await ExactSieve.open(request.folder, {
    ...(profile && { profile }),
    ...(durability && { durability }),
    ...(expectedUrls && { expectedUrls }),
  })
  await dedupeLines(
    {
      addLines: (bytes) => sieve.addLines(bytes),
      forget: (url) => sieve.delete(url),
      async end() {
        const { invalid, sizeBytes } = sieve.stats()
        await sieve.close()
        return { invalid, sizeBytes }
      },
    },
    request,
  )
}
