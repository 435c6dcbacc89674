// Blocking calls on a descriptor that another program has set to non-blocking: a terminal or pipe that is shared.

const nap = new Int32Array(new SharedArrayBuffer(4))

/** Retries a call on a descriptor that is set to non-blocking and not ready. */
export function whenReady<T>(call: () => T): T {
  for (;;) {
    try {
      return call()
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error
      Atomics.wait(nap, 0, 0, 2)
    }
  }
}
