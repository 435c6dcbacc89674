// The first pass of url-caching: counts the ADDs of a stream of commands, to size a filter. Does none of them.
import { compileKernel, Kernel } from '../kernel.ts'
import { Feed } from '../lines/feed.ts'
import { ADD, readCommands } from './batch.ts'

export class AddCounter {
  adds = 0
  readonly #feed: Feed

  private constructor(kernel: Kernel) {
    const take = (lines: number) => {
      const n = readCommands(kernel, lines, this.lines === 0)
      const { commandOps } = kernel
      let adds = 0
      for (let i = 0; i < n; i++) if (commandOps[i] === ADD) adds++
      this.adds += adds
      return lines
    }
    this.#feed = new Feed({ kernel: () => kernel, prepare() {}, take }, { keep: 'none' })
  }

  static async create(): Promise<AddCounter> {
    return new AddCounter(Kernel.create(await compileKernel()))
  }

  get lines(): number {
    return this.#feed.lines
  }

  reserve(bytes: number): Uint8Array {
    return this.#feed.reserve(bytes)
  }

  push(bytes: number): void {
    this.#feed.push(bytes)
  }

  end(): void {
    this.#feed.end()
  }
}
