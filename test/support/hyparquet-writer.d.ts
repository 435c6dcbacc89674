// The part of hyparquet-writer that tests use.

declare module 'hyparquet-writer' {
  interface Column {
    readonly name: string
    readonly data: readonly unknown[]
    readonly type: string
    readonly encoding?: string
  }

  export function parquetWriteBuffer(options: {
    readonly columnData: readonly Column[]
    readonly codec?: string
    readonly compressors?: object
    readonly rowGroupSize?: number
    readonly pageSize?: number
  }): ArrayBuffer
}
