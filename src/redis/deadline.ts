// A promise that is waited for, for a bounded time.

/** No answer came within the time. */
export class Silence extends Error {}

/** What a promise gives; fails with a `Silence` after `ms`. The promise itself goes on. */
export function within<T>(ms: number, promise: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Silence(`no answer within ${Math.round(ms)} ms`)), ms)
    promise.then(
      (value) => {
        clearTimeout(timer)
        resolve(value)
      },
      (error) => {
        clearTimeout(timer)
        reject(error)
      },
    )
  })
}
