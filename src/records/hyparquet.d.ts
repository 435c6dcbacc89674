// The parts of hyparquet that are used here: reading a footer and the header of a page.

declare module 'hyparquet' {
  export interface SchemaTree {
    readonly element: { readonly type?: string; readonly repetition_type?: string; readonly name: string }
    readonly children: SchemaTree[]
    readonly path: string[]
  }

  export interface ColumnMetaData {
    readonly path_in_schema: string[]
    readonly codec: string
    readonly data_page_offset: bigint
    readonly dictionary_page_offset?: bigint
    readonly total_compressed_size: bigint
  }

  export interface RowGroup {
    readonly columns: readonly { readonly file_path?: string; readonly meta_data?: ColumnMetaData }[]
    readonly num_rows: bigint
  }

  export interface FileMetaData {
    readonly row_groups: readonly RowGroup[]
  }

  export function parquetMetadata(footer: Uint8Array, options: { geoparquet: boolean }): FileMetaData
  export function parquetSchema(metadata: FileMetaData): SchemaTree
}

declare module 'hyparquet/src/column.js' {
  export interface PageHeader {
    readonly type: string
    readonly compressed_page_size: number
    readonly uncompressed_page_size: number
    readonly data_page_header?: { readonly num_values: number; readonly encoding: string }
    readonly data_page_header_v2?: {
      readonly num_values: number
      readonly encoding: string
      readonly definition_levels_byte_length: number
      readonly repetition_levels_byte_length: number
      readonly is_compressed: boolean
    }
    readonly dictionary_page_header?: { readonly num_values: number }
  }

  export function parquetHeader(reader: { view: DataView; offset: number }): PageHeader
}
