// Packages that the user brings, since they are large or native: loaded when they are needed, one line when one of them
// is not installed.
import { SieveError } from './errors.ts'

type ClassicLevel = typeof import('classic-level')
type Core = typeof import('@crawlee/core')

export const classicLevel = (): Promise<ClassicLevel> =>
  installed('LevelDB', 'classic-level', () => import('classic-level'))
export const crawleeCore = (): Promise<Core> =>
  installed('Crawlee', '@crawlee/core', () => import('@crawlee/core'))

async function installed<T>(name: string, packages: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error
    throw new SieveError('option', `${name} is not installed: npm install ${packages}`)
  }
}
