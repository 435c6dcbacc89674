// DuckDB: SELECT DISTINCT over a file of lines, read as a CSV of one column, no delimiter, no quotes.
// Run as a program (`node duckdb.mjs THREADS IN OUT [LIMIT TEMP]`) it is the process that is measured.

import { fileURLToPath } from 'node:url'
import { packageVersion } from '../programs.mjs'

const thisFile = fileURLToPath(import.meta.url)

export const commands = [
  { threads: 1, name: 'duckdb-1-thread' },
  { threads: 2, name: 'duckdb-2-threads' },
].map(({ threads, name }) => ({
  name,
  program: process.execPath,
  args: ({ inputFile, outputFile }) => [thisFile, String(threads), inputFile, outputFile],
  keepsOrder: false,
  missing: () => undefined,
  version: () => packageVersion('@duckdb/node-api'),
}))

async function writeDistinct(threads, inputFile, outputFile, memoryLimit, tempFolder) {
  const { DuckDBInstance } = await import('@duckdb/node-api')
  const instance = await DuckDBInstance.create(':memory:', {
    threads,
    preserve_insertion_order: 'false',
    ...(memoryLimit && { memory_limit: memoryLimit, temp_directory: tempFolder }),
  })
  const connection = await instance.connect()
  await connection.run(`COPY (
    SELECT DISTINCT line
    FROM read_csv(${sqlText(inputFile)}, columns = {'line': 'VARCHAR'}, auto_detect = false, header = false,
      delim = '', quote = '', escape = '')
  ) TO ${sqlText(outputFile)} (FORMAT csv, USE_TMP_FILE false, HEADER false, DELIMITER '', QUOTE '', ESCAPE '')`)
  connection.closeSync()
}

function sqlText(text) {
  return `'${text.replaceAll("'", "''")}'`
}

if (process.argv[1] === thisFile) await writeDistinct(...process.argv.slice(2))
