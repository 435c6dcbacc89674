// The server's password, for RESP and HTTP. Passwords are compared by keyed digests of equal length, so that the time
// reveals nothing about the password.
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

export class Password {
  readonly #secret = randomBytes(32)
  readonly #digest: Buffer

  constructor(password: string) {
    this.#digest = this.#digestOf(password)
  }

  /** Whether these bytes are the password's, in UTF-8. */
  matches(given: Buffer): boolean {
    return timingSafeEqual(this.#digestOf(given), this.#digest)
  }

  #digestOf(password: string | Buffer): Buffer {
    return createHmac('sha256', this.#secret).update(password).digest()
  }
}
