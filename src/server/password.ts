// The server's password, at every listener. It and what is said are compared by digests of one length, under a secret of this
// process: the time that takes tells nothing of the password.
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

export class Password {
  readonly #secret = randomBytes(32)
  readonly #digest: Buffer

  constructor(password: string) {
    this.#digest = this.#digestOf(password)
  }

  /** Whether these bytes are the password's, in UTF-8. */
  is(said: Buffer): boolean {
    return timingSafeEqual(this.#digestOf(said), this.#digest)
  }

  #digestOf(password: string | Buffer): Buffer {
    return createHmac('sha256', this.#secret).update(password).digest()
  }
}
