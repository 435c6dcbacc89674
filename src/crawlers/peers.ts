// Crawlee is an optional peer: loaded when it is needed, one line when it is not there.
import { SieveError } from '../errors.ts'

type Core = typeof import('@crawlee/core')
type Cheerio = typeof import('@crawlee/cheerio')

export const crawleeCore = (): Promise<Core> => installed(() => import('@crawlee/core'))
export const crawleeCheerio = (): Promise<Cheerio> => installed(() => import('@crawlee/cheerio'))

async function installed<T>(load: () => Promise<T>): Promise<T> {
  try {
    return await load()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error
    throw new SieveError('option', 'Crawlee is not installed: npm install @crawlee/cheerio @crawlee/core')
  }
}
