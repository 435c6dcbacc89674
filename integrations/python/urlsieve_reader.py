#!/usr/bin/env python3
"""Reads a .sieve file of urlsieve and answers whether a key is in it. Python 3.9 or later, standard library only.

    sieve = Sieve.open("seen.sieve")         # checks every checksum
    sieve.has(b"https://example.com/")       # True: seen (as the filter errs); False: certainly new

    python3 urlsieve_reader.py seen.sieve https://example.com/ ...
    python3 urlsieve_reader.py --lines seen.sieve < keys.txt

Keys are taken as they are: this reader does not canonicalise URLs. For a sieve of profile 'raw' a key is the URL itself;
for others give the key that `urlsieve explain` shows. The format is written down in docs/format.md.
"""

import json
import struct
import sys
import zlib

M64 = (1 << 64) - 1
PIECE, ZEROS, END = b"PIEC", b"ZERO", b"END."
# No instance of a filter is larger.
MOST_ZEROS = 1 << 32


class SieveFileError(Exception):
    """The file is damaged, of another version, or holds what this reader does not know."""


# ---- the file ----


def read_file(path):
    """The header's JSON, the end's JSON, and {(shard, array): bytearray or [(offset, bytes)]}."""
    with open(path, "rb") as file:
        data = file.read()

    def damaged(at, what):
        return SieveFileError(f"{path} is damaged at byte {at}: {what}")

    if data[:8] != b"URLSIEVE":
        raise SieveFileError(f"{path} is no sieve: it begins with {data[:8]!r}")
    if len(data) < 20:
        raise damaged(len(data), "the file ends in its header")
    version, length = struct.unpack_from("<II", data, 8)
    if version not in (1, 2):
        raise SieveFileError(f"{path} has format version {version}: this reader knows versions 1 and 2")
    at = 16 + length
    if at + 4 > len(data):
        raise damaged(len(data), "the file ends in its header")
    if zlib.crc32(data[:at]) != struct.unpack_from("<I", data, at)[0]:
        raise damaged(at, "the header does not match its checksum")
    header = json.loads(data[16:at])
    at += 4
    pieces = []
    while True:
        head = data[at : at + 40]
        if len(head) < 40:
            raise damaged(at, "the end is missing")
        tag, shard, array, _, offset, size, head_crc, crc = struct.unpack("<4sIIIQQII", head)
        if zlib.crc32(head[:32]) != head_crc:
            raise damaged(at, "a chunk header does not match its checksum")
        if tag not in (PIECE, ZEROS, END):
            raise damaged(at, f"a chunk of unknown kind {tag!r}")
        if tag == ZEROS:
            if size > MOST_ZEROS:
                raise damaged(at, f"a run of {size} zeros: expected at most {MOST_ZEROS}")
            pieces.append((shard, array, offset, bytes(size)))
            at += 40
            continue
        payload = data[at + 40 : at + 40 + size]
        if len(payload) < size or zlib.crc32(payload) != crc:
            raise damaged(at + 40, "a chunk does not match its checksum")
        at += 40 + size
        if tag == END:
            end = json.loads(payload)
            if end["chunks"] != len(pieces):
                raise damaged(at, f"{len(pieces)} chunks, expected {end['chunks']}")
            return header, end, pieces
        pieces.append((shard, array, offset, payload))


# ---- hashes ----


def rotl(x, by):
    return ((x << by) | (x >> (64 - by))) & M64


def siphash13(key, message):
    k0, k1 = struct.unpack("<QQ", key)
    v0, v1 = k0 ^ 0x736F6D6570736575, k1 ^ 0x646F72616E646F6D
    v2, v3 = k0 ^ 0x6C7967656E657261, k1 ^ 0x7465646279746573

    def rounds(count):
        nonlocal v0, v1, v2, v3
        for _ in range(count):
            v0 = (v0 + v1) & M64
            v1 = rotl(v1, 13) ^ v0
            v0 = rotl(v0, 32)
            v2 = (v2 + v3) & M64
            v3 = rotl(v3, 16) ^ v2
            v0 = (v0 + v3) & M64
            v3 = rotl(v3, 21) ^ v0
            v2 = (v2 + v1) & M64
            v1 = rotl(v1, 17) ^ v2
            v2 = rotl(v2, 32)

    whole = len(message) & ~7
    words = list(struct.unpack_from(f"<{whole // 8}Q", message))
    words.append(int.from_bytes(message[whole:], "little") | (len(message) & 255) << 56)
    for word in words:
        v3 ^= word
        rounds(1)
        v0 ^= word
    v2 ^= 0xFF
    rounds(3)
    return v0 ^ v1 ^ v2 ^ v3


P1, P2, P3 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9
P4, P5 = 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5


def xxh64(seed, message):
    def lane_round(acc, lane):
        return rotl((acc + lane * P2) & M64, 31) * P1 & M64

    size, at = len(message), 0
    if size >= 32:
        lanes = [(seed + P1 + P2) & M64, (seed + P2) & M64, seed, (seed - P1) & M64]
        while at + 32 <= size:
            words = struct.unpack_from("<4Q", message, at)
            lanes = [lane_round(acc, word) for acc, word in zip(lanes, words)]
            at += 32
        h = sum(rotl(acc, by) for acc, by in zip(lanes, (1, 7, 12, 18))) & M64
        for acc in lanes:
            h = ((h ^ lane_round(0, acc)) * P1 + P4) & M64
    else:
        h = (seed + P5) & M64
    h = (h + size) & M64
    while at + 8 <= size:
        h = (rotl(h ^ lane_round(0, struct.unpack_from("<Q", message, at)[0]), 27) * P1 + P4) & M64
        at += 8
    if at + 4 <= size:
        h = (rotl(h ^ struct.unpack_from("<I", message, at)[0] * P1 & M64, 23) * P2 + P3) & M64
        at += 4
    for byte in message[at:]:
        h = rotl(h ^ byte * P5 & M64, 11) * P1 & M64
    h = (h ^ h >> 33) * P2 & M64
    h = (h ^ h >> 29) * P3 & M64
    return h ^ h >> 32


def mix(x):
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & M64
    x = (x ^ x >> 27) * 0x94D049BB133111EB & M64
    return x ^ x >> 31


def derived(h, j):
    """The j-th hash derived from h."""
    return mix((h + (j + 1) * 0x9E3779B97F4A7C15) & M64)


def spread(x, size):
    """x, of 64 bits, as an address in [0, size)."""
    return x * size >> 64


# ---- keys in pieces ----


def after_scheme(key):
    """Where the host begins: behind '://' in the first 32 bytes, if no slash comes before."""
    for at in range(min(len(key), 32) - 2):
        if key[at] == 0x3A:
            return at + 3 if key[at + 1 : at + 3] == b"//" else 0
        if key[at] == 0x2F:
            return 0
    return 0


def is_word(c):
    return c >= 0x80 or 0x61 <= (c | 0x20) <= 0x7A or 0x30 <= c <= 0x39


def words_of(text):
    word = bytearray()
    for c in text:
        if is_word(c):
            word.append(c)
        elif word:
            yield bytes(word)
            word.clear()
    if word:
        yield bytes(word)


def host_initials(text):
    if len(text) > 4 and text.startswith(b"www."):
        text = text[4:]
    for stop in b"/?:":
        text = text.split(bytes([stop]))[0]
    initials = bytearray()
    first = True
    for c in text:
        if first:
            initials.append(c)
        first = c == 0x2E
    return bytes(initials[:-1] if len(initials) > 1 else initials)


def path_shape(text):
    slash = text.find(b"/")
    shape, before = bytearray(), 0
    for c in (text[slash:] if slash >= 0 else b"").split(b"?")[0]:
        if c >= 0x80 or 0x61 <= (c | 0x20) <= 0x7A:
            c = 0x61
        elif 0x30 <= c <= 0x39:
            c = 0x30
        else:
            before = 0
        if c != before:
            shape.append(c)
        before = c if c in (0x61, 0x30) else 0
    return bytes(shape)


def last_segment(text):
    return text.split(b"?")[0].split(b"/")[-1]


def digits(text):
    return bytes(c for c in text if 0x30 <= c <= 0x39)


FEATURES = {
    "host-initials": host_initials,
    "path-shape": path_shape,
    "last-segment": last_segment,
    "digits": digits,
}


# ---- filters: each has(key, h), where h is the key's 64-bit hash ----


def joined(pieces, array):
    """One array of a filter: its pieces in the order of their offsets, which are bytes."""
    return b"".join(bytes for number, _, bytes in sorted(pieces, key=lambda p: p[1]) if number == array)


def has_bit(bits, at):
    return bits[at >> 3] >> (at & 7) & 1 == 1


class Fingerprint:
    def __init__(self, plan, pieces, hash_of, shares):
        del plan, hash_of, shares
        self.hashes = set()
        for _, _, segment in pieces:
            self.hashes.update(struct.unpack_from(f"<{(len(segment) - 64) // 8}Q", segment, 64))
        self.hashes.discard(0)

    def has(self, key, h):
        return (h or 1) in self.hashes


class Classic:
    def __init__(self, plan, pieces, hash_of, shares):
        self.size = -(-plan["bits"] // shares)
        self.count = plan["hashes"]
        self.bits = joined(pieces, 0)

    def has(self, key, h):
        return all(has_bit(self.bits, spread(derived(h, j), self.size)) for j in range(self.count))


class Blocked:
    def __init__(self, plan, pieces, hash_of, shares):
        self.count = plan["hashes"]
        self.bits = joined(pieces, 0)

    def has(self, key, h):
        block = spread(rotl(h, 32), len(self.bits) // 64) * 512
        for j in range(self.count):
            positions = derived(h, j // 7) >> 9 * (j % 7)
            if not has_bit(self.bits, block + (positions & 511)):
                return False
        return True


class Multilayer:
    """`multilayer` and `keyword-layers`."""

    def __init__(self, plan, pieces, hash_of, shares):
        shape = plan["shape"]
        self.mode, self.size, self.count = shape["mode"], shape["bitsPerLayer"], plan["hashes"]
        self.layers = [joined(pieces, layer) for layer in range(64)]
        self.layers = [bits for bits in self.layers if bits]
        self.xor = joined(pieces, 64)
        self.hash_of = hash_of

    def parts(self, key):
        text = key[after_scheme(key) :]
        if self.mode == "words":
            return list(words_of(text))
        most = len(self.layers) if self.mode == "join" else 64
        return text.split(b"/", most - 1)

    def has(self, key, h):
        xored = [0] * self.count
        for i, part in enumerate(self.parts(key)):
            layer = i % len(self.layers) if self.mode == "words" else i
            if layer >= len(self.layers):
                return False
            part_hash = self.hash_of(part)
            for j in range(self.count):
                at = spread(derived(part_hash, j), self.size)
                if not has_bit(self.layers[layer], at):
                    return False
                xored[j] ^= at
        return all(has_bit(self.xor, at % self.size) for at in xored)


class PrefixLayers:
    def __init__(self, plan, pieces, hash_of, shares):
        self.size, self.count, self.shape = plan["bits"], plan["hashes"], plan["shape"]
        self.bits = joined(pieces, 0)
        self.hash_of = hash_of

    def _has(self, text, count, layer):
        h = self.hash_of(text)
        return all(has_bit(self.bits, spread(derived(h, 64 * layer + j), self.size)) for j in range(count))

    def has(self, key, h):
        if not self._has(key, self.count, 0):
            return False
        text = key[after_scheme(key) :]
        folders = text.split(b"?")[0].split(b"/")[:-1]
        for layer in range(1, min(self.shape["layers"], len(folders)) + 1):
            folder = b"/".join(folders[:layer]) + b"/"
            if not self._has(folder, self.shape["folderHashes"], layer):
                return False
        return True


class Eigenvalue:
    def __init__(self, plan, pieces, hash_of, shares):
        self.count, self.shape = plan["hashes"], plan["shape"]
        self.feature = FEATURES[self.shape["features"]]
        self.bits, self.features = joined(pieces, 0), joined(pieces, 1)
        self.hash_of = hash_of

    def has(self, key, h):
        h, size = self.hash_of(key), self.shape["urlBits"]
        if not all(has_bit(self.bits, spread(derived(h, j), size)) for j in range(self.count)):
            return False
        h, size = self.hash_of(self.feature(key[after_scheme(key) :])), self.shape["featureBits"]
        count = self.shape["featureHashes"]
        return all(has_bit(self.features, spread(derived(h, 64 + j), size)) for j in range(count))


class Generations:
    """`scalable` and `window`: seen when any generation has it. Does not forget by age: the writer does."""

    def __init__(self, plan, pieces, hash_of, shares):
        kind = FILTERS[plan["shape"]["inner"]]
        self.all = []
        for i in sorted({array // 256 for array, _, _ in pieces}):
            mine = [(array % 256, offset, bytes) for array, offset, bytes in pieces if array // 256 == i]
            bits, hashes = struct.unpack_from("<QI", joined(mine, 255))
            rest = [piece for piece in mine if piece[0] != 255]
            self.all.append(kind({"bits": bits, "hashes": hashes}, rest, hash_of, 1))

    def has(self, key, h):
        return any(generation.has(key, h) for generation in self.all)


class BinaryFuse:
    def __init__(self, plan, pieces, hash_of, shares):
        self.width, self.length, self.segments, self.seed = struct.unpack_from("<IIIxxxxQ", joined(pieces, 0))
        self.cells = memoryview(joined(pieces, 1)).cast({8: "B", 16: "H", 32: "I"}[self.width])

    def has(self, key, h):
        if self.segments == 0:
            return False
        x = mix((h or 1) + self.seed & M64)
        first = spread(x, self.segments * self.length)
        second = first + self.length ^ x >> 18 & self.length - 1
        third = first + 2 * self.length ^ x & self.length - 1
        own = (x ^ x >> 32) & (1 << self.width) - 1
        return own ^ self.cells[first] ^ self.cells[second] ^ self.cells[third] == 0


class Keys:
    """The papers' baselines: the keys themselves."""

    def __init__(self, plan, pieces, hash_of, shares):
        self.keys = set()
        text, at = joined(pieces, 0), 0
        while at < len(text):
            (size,) = struct.unpack_from("<I", text, at)
            self.keys.add(text[at + 4 : at + 4 + size])
            at += 4 + size

    def has(self, key, h):
        return key in self.keys


FILTERS = {
    "fingerprint": Fingerprint,
    "classic": Classic,
    "blocked": Blocked,
    "multilayer": Multilayer,
    "keyword-layers": Multilayer,
    "prefix-layers": PrefixLayers,
    "eigenvalue": Eigenvalue,
    "scalable": Generations,
    "window": Generations,
    "binary-fuse": BinaryFuse,
    "hash-set": Keys,
    "sorted-array": Keys,
    "linear": Keys,
    "trie": Keys,
}


class Sieve:
    def __init__(self, header, end, pieces):
        self.header = header
        self.urls = end["urls"]
        name, key = header["hash"]["names"][0], bytes.fromhex(header["hash"]["key"])
        if name == "siphash":
            self.hash_of = lambda text: siphash13(key, text)
        elif name == "xxh64":
            self.hash_of = lambda text: xxh64(int.from_bytes(key[:8], "little"), text)
        else:
            raise SieveFileError(f"hash {name!r}: this reader knows siphash and xxh64")
        if header["filter"] not in FILTERS:
            raise SieveFileError(f"filter {header['filter']!r}: this reader does not know it")
        kind = FILTERS[header["filter"]]
        self.froms = header["shards"]
        self.filters = [
            kind(
                header["plan"],
                [(array, offset, payload) for shard, array, offset, payload in pieces if shard == number],
                self.hash_of,
                len(self.froms),
            )
            for number in range(len(self.froms))
        ]

    @classmethod
    def open(cls, path):
        return cls(*read_file(path))

    def has(self, key):
        """Whether a key, as bytes, was seen. Errs as the filter does: towards True, never towards False."""
        h = self.hash_of(key)
        shard = max(i for i, start in enumerate(self.froms) if start <= h >> 32)
        return self.filters[shard].has(key, h)


def main(arguments):
    lines = "--lines" in arguments
    rest = [argument for argument in arguments if argument != "--lines"]
    if not rest or (lines and len(rest) > 1):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    try:
        sieve = Sieve.open(rest[0])
    except (OSError, SieveFileError) as error:
        print(f"urlsieve_reader: {error}", file=sys.stderr)
        return 1
    keys = sys.stdin.buffer if lines else (key.encode() for key in rest[1:])
    for key in keys:
        print("seen" if sieve.has(key.rstrip(b"\n") if lines else key) else "new")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
