// Golden vectors: what others published, so that a hash changed in a refactor is noticed.

/**
 * SipHash-1-3 of the messages 00 01 02 … of 0 to 63 bytes under the key 00 … 0f, as little-endian bytes. From the test
 * `test_siphash_1_3` of the Rust project's SipHasher13 (crate siphasher, src/tests.rs, github.com/jedisct1/rust-siphash).
 */
export const siphash13Vectors = `
  dcc40f055801acab 93ca577df39bf4c9 4dd4c74d029bcb82 fbf7dde7b80af88b 2883d388605775cf 673b53492fd5f9de
  a7229fc5502b0dc5 4011b19b987d92d3 8e9a298d11959036 e43d066cb38ea425 7f09ff92ee85de79 52c34df9c118c170
  a2d9b457b184a378 a7ff29120c766f30 345df9c011a15a60 5699512a6dd820d3 668b907d1add4fcc 0cd8db639068f29c
  3ee673b49c38fc8f 1c7d298de59d1ff2 40e0cca6462fdcc0 44f8452bfeab92b9 2e8720a39b7bfe7f 23c1e6da7f0e5a52
  8c9c3467b2ae64f4 79095b702859cd45 a51399cae3353e3a 353bde4a4ec71da9 0dd06cef02ed0bfb f4e1b14ab43cd988
  63e6c543d6110f54 bcd1218c1fdd7023 0db6a7166c7b1581 bff98f7ae5b9544d 3e752a1f78129f75 916b18bfbea3a1ce
  0662a2add308f52c 5730c3a32d1c10b6 a1363aae9674f4b3 9283107b54576b62 3115e4993236d2c1 44d91a3f92c17c66
  258813c8fe4f7065 a64989c2d180f224 6b87f8faed1ccac2 9621049ffc4b16c2 23d6b168939c6ea1 fd14518b9c16fb49
  464c07dff843319f b386cc1224affdc6 8f09520ad149af7e 9a2f299d5513f31c 121ff4a2dd304ac4 d01ea74389e9fa36
  e6bcf0734cb38f31 80e9a77036bf7aa2 756d3c24dbc0bcb4 1315b7fd52d8f823 088a7da64d5f038f 48f1e8b7e5d09cd8
  ee44a6f7bce6f4f6 f237180fd89ac5ae e094664b15f6b2c3 a8b3bbb76290199d`

/** SipHash-2-4 of the first sixteen of those messages: `vectors.h` of the authors' own github.com/veorq/SipHash. */
export const siphash24Vectors = `
  310e0edd47db6f72 fd67dc93c539f874 5a4fa9d909806c0d 2d7efbd796666785 b7877127e09427cf 8da699cd64557618
  cee3fe586e46c9cb 37d1018bf50002ab 6224939a79f5f593 b0e4a90bdf82009e f3b9dd94c5bb5d7a a7ad6b22462fb3f4
  fbe50e86bc8f1e75 903d84c02756ea14 eef27a8e90ca23f7 e545be4961ca29a1`

/** The hashes of such a table, as numbers. */
export function hashesIn(table: string): bigint[] {
  return table
    .trim()
    .split(/\s+/)
    .map((hex) => Buffer.from(hex, 'hex').readBigUInt64LE())
}

const PRIME32 = 2654435761n
const PRIME64 = 11400714785074694797n

/** The sanity buffer of xxHash's own self-test: the top bytes of PRIME32 · PRIME64^i. */
export function sanityBuffer(size: number): Uint8Array {
  let state = PRIME32
  return Uint8Array.from({ length: size }, () => {
    const byte = Number(state >> 56n)
    state = BigInt.asUintN(64, state * PRIME64)
    return byte
  })
}

/** XXH64 of the first `size` bytes of the sanity buffer: `cli/xsum_sanity_check.c` of github.com/Cyan4973/xxHash. */
export const xxh64Vectors: readonly { size: number; seed: bigint; hash: bigint }[] = [
  { size: 0, seed: 0n, hash: 0xef46db3751d8e999n },
  { size: 0, seed: PRIME32, hash: 0xac75fda2929b17efn },
  { size: 1, seed: 0n, hash: 0xe934a84adb052768n },
  { size: 1, seed: PRIME32, hash: 0x5014607643a9b4c3n },
  { size: 4, seed: 0n, hash: 0x9136a0dca57457een },
  { size: 14, seed: 0n, hash: 0x8282dcc4994e35c8n },
  { size: 14, seed: PRIME32, hash: 0xc3bd6bf63deb6df0n },
  { size: 222, seed: 0n, hash: 0xb641ae8cb691c174n },
  { size: 222, seed: PRIME32, hash: 0x20cb8ab7ae10c14an },
]

/** SplitMix64 with the seed 1234567, as Rosetta Code's task gives it. The output number j is `derived(seed, j)`. */
export const splitmixVectors: readonly bigint[] = [
  6457827717110365317n,
  3203168211198807973n,
  9817491932198370423n,
  4593380528125082431n,
  16408922859458223821n,
]
