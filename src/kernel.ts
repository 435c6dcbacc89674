// The WebAssembly module as the library uses it: compiles it once, makes an instance with its memory, and keeps the
// typed views fresh when that memory has grown. No logic lives here.
import { SieveError } from './errors.ts'
import { kernelBytes } from './kernel-bytes.ts'
import type { KernelExports } from './kernel-exports.ts'

export type { KernelExports } from './kernel-exports.ts'

type ConstantName = {
  [N in keyof KernelExports]: KernelExports[N] extends WebAssembly.Global ? N : never
}[keyof KernelExports]

/** The most that one instance can address; a filter larger than this is spread over several instances. */
export const INSTANCE_BYTES = 4 * 1024 ** 3 - 65536

/** What the kernel's own data take. */
const LEAST_PAGES = 4

let compiling: Promise<WebAssembly.Module> | undefined
let compiled: WebAssembly.Module | undefined

/** The module, compiled once for all instances. */
export function compileKernel(): Promise<WebAssembly.Module> {
  compiling ??= compiled ? Promise.resolve(compiled) : WebAssembly.compile(moduleBytes()).then(keep)
  return compiling
}

/** The module for those who cannot wait: compiling takes a few milliseconds. */
export function compileKernelNow(): WebAssembly.Module {
  return compiled ?? keep(new WebAssembly.Module(moduleBytes()))
}

function keep(module: WebAssembly.Module): WebAssembly.Module {
  compiled ??= module
  return compiled
}

// The text is named once: the bundler puts a copy of it wherever it is named. Node's decoder takes 0.1 ms instead of ten, in every start
// of the command; browsers have only the other.
function moduleBytes(base64 = kernelBytes): Uint8Array<ArrayBuffer> {
  const { Buffer: nodeBuffer } = globalThis as {
    Buffer?: { from(text: string, form: 'base64'): Uint8Array<ArrayBuffer> }
  }
  return nodeBuffer
    ? nodeBuffer.from(base64, 'base64')
    : Uint8Array.from(atob(base64), (c) => c.charCodeAt(0))
}

/** What `addOne` and `hasOne` answer when the steps are to be done one by one. */
export const NOT_DONE = 2

export class Kernel {
  readonly call: KernelExports
  /** Lines in one batch. */
  readonly batchLines: number
  /** The longest answer to a command is so much longer than its URL. */
  readonly answerBytes: number
  lineStarts!: Uint32Array
  lineEnds!: Uint32Array
  keyStarts!: Uint32Array
  keyEnds!: Uint32Array
  featureStarts!: Uint32Array
  featureEnds!: Uint32Array
  hashes!: BigUint64Array
  verdicts!: Uint8Array
  unusual!: Uint32Array
  commandOps!: Uint8Array
  commandOffsets!: Uint32Array
  badOffsets!: Uint32Array
  badStarts!: Uint32Array
  badEnds!: Uint32Array
  #bytes!: Uint8Array
  /** Who has half a line waiting in the input buffer. */
  inputOwner: { stash(): void } | null = null
  readonly module: WebAssembly.Module
  readonly #memory: WebAssembly.Memory

  private constructor(module: WebAssembly.Module, memory: WebAssembly.Memory) {
    const instance = new WebAssembly.Instance(module, { env: { memory } })
    this.module = module
    this.call = instance.exports as unknown as KernelExports
    this.#memory = memory
    this.batchLines = this.#constant('batchLines')
    this.answerBytes = this.#constant('answerBytes')
    this.#view()
  }

  /**
   * A new instance whose memory begins with `initialBytes` and never exceeds `maximumBytes`, in whole pages of 64 KiB. Memory
   * that is not touched takes no space; each later growth makes the engine collect its garbage.
   */
  static create(
    module: WebAssembly.Module,
    maximumBytes = INSTANCE_BYTES,
    initialBytes = LEAST_PAGES * 65536,
  ): Kernel {
    const pages = (bytes: number) => Math.min(65536, Math.max(LEAST_PAGES, Math.ceil(bytes / 65536)))
    try {
      const memory = new WebAssembly.Memory({ initial: pages(initialBytes), maximum: pages(maximumBytes) })
      return new Kernel(module, memory)
    } catch (error) {
      if (!(error instanceof RangeError)) throw error
      throw new SieveError('memory', `no memory left for another WebAssembly instance: ${error.message}`)
    }
  }

  /** All of the memory. The view is good until the next call that may grow it: ask again after each call. */
  get bytes(): Uint8Array {
    if (this.#bytes.length === 0) this.#view()
    return this.#bytes
  }

  /** Call after anything that may have grown the memory, before touching the other views. */
  refresh(): void {
    if (this.#bytes.length === 0) this.#view()
  }

  #constant(name: ConstantName): number {
    return (this.call[name].value as number) >>> 0
  }

  #view(): void {
    const { buffer } = this.#memory
    const n = this.batchLines
    this.#bytes = new Uint8Array(buffer)
    this.lineStarts = new Uint32Array(buffer, this.#constant('lineStarts'), n)
    this.lineEnds = new Uint32Array(buffer, this.#constant('lineEnds'), n)
    this.keyStarts = new Uint32Array(buffer, this.#constant('keyStarts'), n)
    this.keyEnds = new Uint32Array(buffer, this.#constant('keyEnds'), n)
    this.featureStarts = new Uint32Array(buffer, this.#constant('featureStarts'), n)
    this.featureEnds = new Uint32Array(buffer, this.#constant('featureEnds'), n)
    this.hashes = new BigUint64Array(buffer, this.#constant('hashes'), n)
    this.verdicts = new Uint8Array(buffer, this.#constant('verdicts'), n)
    this.unusual = new Uint32Array(buffer, this.#constant('unusual'), n)
    this.commandOps = new Uint8Array(buffer, this.#constant('commandOps'), n)
    this.commandOffsets = new Uint32Array(buffer, this.#constant('commandOffsets'), n)
    this.badOffsets = new Uint32Array(buffer, this.#constant('badOffsets'), n)
    this.badStarts = new Uint32Array(buffer, this.#constant('badStarts'), n)
    this.badEnds = new Uint32Array(buffer, this.#constant('badEnds'), n)
  }
}
