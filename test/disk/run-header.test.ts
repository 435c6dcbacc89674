// A run's header is checked against itself and against the file, its checksum right or not.
import { expect, it } from 'vitest'
import { BLOCK_BYTES, decodeRunHeader, encodeRunHeader, runBytes } from '../../src/disk/run-header.ts'

const header = {
  hashes: 1000,
  blocks: 2,
  indexChecksum: 1,
  set: 5n,
  level: 0,
  filterBlocks: 0,
  filterChecksum: 0,
}

it('is read as it was written', () => {
  expect(decodeRunHeader('run', encodeRunHeader(header), runBytes(header))).toEqual(header)
})

it.each([2 * BLOCK_BYTES * 8 + 1, 2 ** 47, 2 ** 53 - 1, 1])(
  '%i hashes in two blocks are refused',
  (hashes) => {
    const forged = { ...header, hashes }
    expect(() => decodeRunHeader('run', encodeRunHeader(forged), runBytes(forged))).toThrow(
      /^run is damaged at byte 16: \d+ hashes in 2 blocks on level 0; /,
    )
  },
)
