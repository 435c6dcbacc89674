#!/usr/bin/env python3
"""Reads a .sieve file of urlsieve and answers whether a key is in it. Python 3.9 or later, standard library only.

    sieve = Sieve.open("seen.sieve")         # checks every checksum
    sieve.has(b"https://example.com/")       # True: seen (as the filter errs); False: certainly new

    python3 urlsieve_reader.py seen.sieve https://example.com/ ...
    python3 urlsieve_reader.py --lines seen.sieve < keys.txt

Keys are taken as they are: this reader does not canonicalise URLs. For a sieve of profile 'raw' a key is the URL itself;
for others give the key that `urlsieve explain` shows. The format is written down in docs/format.md.
"""

import bisect
import json
import struct
import sys
import zlib

M64 = (1 << 64) - 1
PIECE, ZEROS, END = b"PIEC", b"ZERO", b"END."
# No instance of a filter is larger.
MOST_INSTANCE = 1 << 32
MOST_JSON = 16 << 20
MOST_WHOLE = (1 << 53) - 1


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
    header = parsed(data[16:at], damaged(16, "its header is no JSON object"))
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
            if crc != 0 or not 0 < size <= MOST_INSTANCE:
                raise damaged(at, f"a run of {size} zeros: expected 1 to {MOST_INSTANCE}")
            pieces.append((shard, array, offset, size))
            at += 40
            continue
        payload = data[at + 40 : at + 40 + size]
        if len(payload) < size or zlib.crc32(payload) != crc:
            raise damaged(at + 40, "a chunk does not match its checksum")
        if tag == END:
            end = parsed(payload, damaged(at + 40, "its end is no JSON object"))
            if end.get("chunks") != len(pieces):
                raise damaged(at, f"{len(pieces)} chunks, expected {end.get('chunks')!r}")
            return header, end, pieces
        at += 40 + size
        pieces.append((shard, array, offset, payload))


def parsed(text, error):
    """A JSON object, or the error."""
    try:
        value = json.loads(text) if len(text) <= MOST_JSON else None
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise error
    return value


# ---- what a file says, checked before it is used ----


def check(holds, what):
    if not holds:
        raise SieveFileError(what)


def whole(name, value, least, most):
    """A whole number within bounds."""
    is_whole = isinstance(value, int) and not isinstance(value, bool) and least <= value <= most
    check(is_whole, f"{name} {str(value)[:40]}: expected a whole number from {least} to {most}")
    return value


def bits_and_hashes(plan):
    return whole("plan.bits", plan["bits"], 1, 1 << 48), whole("plan.hashes", plan["hashes"], 1, 64)


class Bits:
    """One bit array of a filter. Zeros are not held, whatever their number."""

    def __init__(self, pieces, array, size):
        self.starts, self.parts, total = [], [], -(-size // 8)
        check(total <= MOST_INSTANCE, f"an array of {size} bits: expected at most {MOST_INSTANCE} bytes")
        at = 0
        for number, offset, part in pieces:
            if number != array:
                continue
            length = part if isinstance(part, int) else len(part)
            check(offset == at and length > 0, f"array {array} is not there once and in order")
            self.starts.append(offset)
            self.parts.append(part)
            at += length
        check(at == total, f"array {array} has {at} bytes: expected {total}")
        last = self.parts[-1]
        check(isinstance(last, int) or size % 8 == 0 or last[-1] >> size % 8 == 0, f"bits behind the end of array {array}")

    def has(self, at):
        i = bisect.bisect_right(self.starts, at >> 3) - 1
        part = self.parts[i]
        return not isinstance(part, int) and part[(at >> 3) - self.starts[i]] >> (at & 7) & 1 == 1


def only_arrays(pieces, arrays):
    for array, _, _ in pieces:
        check(array in arrays, f"a piece of array {array}, which there is not")


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


class Fingerprint:
    def __init__(self, plan, pieces, hash_of, share):
        check(plan["bits"] is None and plan["hashes"] == 1, "a plan that no fingerprint filter has")
        self.hashes = set()
        start, stop = share.start, share.stop
        covered = None
        for bits, first, segment in pieces:
            slots = 0 if isinstance(segment, int) else (len(segment) - 64) // 8
            check(slots in (2048 << i for i in range(5)) and len(segment) == 64 + 8 * slots, "a segment of a wrong size")
            check(4 <= bits <= (27 if slots == 32768 else 4), f"a segment of {bits} directory bits")
            check(len(pieces) == 1 or slots == 32768, "several segments of a first size")
            count, begin, end = struct.unpack_from("<III", segment)
            check(begin == first < end <= 1 << bits, "a segment of a wrong range")
            check(covered is None or covered == first / (1 << bits), "segments that do not follow each other")
            if covered is None:
                check(start == stop or first / (1 << bits) <= start / (1 << 32), "no segment for the first hashes")
            covered = end / (1 << bits)
            found = self.read(struct.unpack_from(f"<{slots}Q", segment, 64), begin, end, bits)
            check(found == count, f"a segment of {count} hashes that has {found}")
        is_covered = covered is not None and (start == stop or covered >= stop / (1 << 32))
        check(is_covered, "no segment for the last hashes")

    def read(self, slots, begin, end, bits):
        """Takes the hashes of a segment; each must lie where a search finds it."""
        buckets = len(slots) // 8
        start = next((i for i in range(buckets) if slots[8 * i + 7] == 0), None)
        check(start is not None, "a segment without an empty slot")
        count = full = 0
        for i in range(start + 1, start + 1 + buckets):
            here = i % buckets
            bucket = slots[8 * here : 8 * here + 8]
            held = bucket[: bucket.index(0)] if 0 in bucket else bucket
            check(not any(bucket[len(held) :]), "a bucket with a gap")
            for h in held:
                back = (here - (h % len(slots) >> 3)) % buckets
                check(back <= full and begin <= h >> (64 - bits) < end, "a hash in the wrong place")
            self.hashes.update(held)
            count += len(held)
            full = full + 1 if len(held) == 8 else 0
        return count

    def has(self, key, h):
        return (h or 1) in self.hashes


class Classic:
    def __init__(self, plan, pieces, hash_of, share):
        bits, self.count = bits_and_hashes(plan)
        only_arrays(pieces, [0])
        self.size = -(-bits // share.shares)
        self.bits = Bits(pieces, 0, self.size)

    def has(self, key, h):
        return all(self.bits.has(spread(derived(h, j), self.size)) for j in range(self.count))


class Blocked:
    def __init__(self, plan, pieces, hash_of, share):
        bits, self.count = bits_and_hashes(plan)
        check(bits % 512 == 0, f"plan.bits {bits}: expected a multiple of 512")
        only_arrays(pieces, [0])
        self.blocks = -(-bits // 512 // share.shares)
        self.bits = Bits(pieces, 0, 512 * self.blocks)

    def has(self, key, h):
        block = spread(rotl(h, 32), self.blocks) * 512
        for j in range(self.count):
            positions = derived(h, j // 7) >> 9 * (j % 7)
            if not self.bits.has(block + (positions & 511)):
                return False
        return True


class Multilayer:
    """`multilayer` and `keyword-layers`."""

    def __init__(self, plan, pieces, hash_of, share):
        shape = plan["shape"]
        self.mode, self.count = shape["mode"], whole("plan.hashes", plan["hashes"], 1, 64)
        check(self.mode in (["words"] if plan["filter"] == "keyword-layers" else ["join", "grow"]), "an unknown mode")
        self.size = whole("plan.shape.bitsPerLayer", shape["bitsPerLayer"], 1, 1 << 48)
        layers = whole("plan.shape.layers", shape["layers"], 1, 64)
        most = max([array + 1 for array, _, _ in pieces if array < 64], default=0)
        check(layers <= most and (most == layers or self.mode == "grow"), f"{most} layers: expected {layers}")
        only_arrays(pieces, range(65))
        self.layers = [Bits(pieces, layer, self.size) for layer in range(most)]
        self.xor = Bits(pieces, 64, self.size)
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
                if not self.layers[layer].has(at):
                    return False
                xored[j] ^= at
        return all(self.xor.has(at % self.size) for at in xored)


class PrefixLayers:
    def __init__(self, plan, pieces, hash_of, share):
        self.size, self.count = bits_and_hashes(plan)
        self.layers = whole("plan.shape.layers", plan["shape"]["layers"], 1, 63)
        self.folder_hashes = whole("plan.shape.folderHashes", plan["shape"]["folderHashes"], 1, 64)
        only_arrays(pieces, [0])
        self.bits = Bits(pieces, 0, self.size)
        self.hash_of = hash_of

    def _has(self, text, count, layer):
        h = self.hash_of(text)
        return all(self.bits.has(spread(derived(h, 64 * layer + j), self.size)) for j in range(count))

    def has(self, key, h):
        if not self._has(key, self.count, 0):
            return False
        text = key[after_scheme(key) :]
        folders = text.split(b"?")[0].split(b"/")[:-1]
        for layer in range(1, min(self.layers, len(folders)) + 1):
            folder = b"/".join(folders[:layer]) + b"/"
            if not self._has(folder, self.folder_hashes, layer):
                return False
        return True


class Eigenvalue:
    def __init__(self, plan, pieces, hash_of, share):
        shape = plan["shape"]
        bits, self.count = bits_and_hashes(plan)
        self.url_bits = whole("plan.shape.urlBits", shape["urlBits"], 1, 1 << 48)
        self.feature_bits = whole("plan.shape.featureBits", shape["featureBits"], 1, 1 << 48)
        self.feature_hashes = whole("plan.shape.featureHashes", shape["featureHashes"], 1, 64)
        check(bits == self.url_bits + self.feature_bits, "plan.bits: expected the sum of both regions")
        self.feature = FEATURES[shape["features"]]
        only_arrays(pieces, [0, 1])
        self.bits = Bits(pieces, 0, self.url_bits)
        self.features = Bits(pieces, 1, self.feature_bits)
        self.hash_of = hash_of

    def has(self, key, h):
        h = self.hash_of(key)
        if not all(self.bits.has(spread(derived(h, j), self.url_bits)) for j in range(self.count)):
            return False
        h = self.hash_of(self.feature(key[after_scheme(key) :]))
        hashes = range(self.feature_hashes)
        return all(self.features.has(spread(derived(h, 64 + j), self.feature_bits)) for j in hashes)


class Generations:
    """`scalable` and `window`: seen when any generation has it. Does not forget by age: the writer does."""

    def __init__(self, plan, pieces, hash_of, share):
        inners = ("blocked", "classic") if plan["filter"] == "scalable" else ("fingerprint", "blocked", "classic")
        inner = plan["shape"]["inner"]
        check(inner in inners, f"plan.shape.inner {str(inner)[:40]}: expected one of {', '.join(inners)}")
        most = 60 if plan["filter"] == "scalable" else whole("generations", plan["shape"]["generations"], 2, 255)
        by_generation = {}
        for array, offset, part in pieces:
            by_generation.setdefault((array & 0xFFFF) >> 8, []).append((array & ~0xFF00, offset, part))
        check(sorted(by_generation) == list(range(len(by_generation))), "a generation is missing")
        check(1 <= len(by_generation) <= most, f"{len(by_generation)} generations: expected 1 to {most}")
        self.all = []
        for i in range(len(by_generation)):
            array, offset, size = by_generation[i][0]
            is_size = array == 255 and offset == 0 and not isinstance(size, int) and len(size) % 4 == 0 and len(size) >= 16
            check(is_size, f"generation {i} does not begin with its size")
            bits, hashes = struct.unpack_from("<QI", size)
            froms = list(struct.unpack_from(f"<{len(size) // 4 - 4}I", size, 16)) or [0]
            check(froms[0] == 0 and all(a < b for a, b in zip(froms, froms[1:])), "shards that do not ascend from 0")
            mine = [[] for _ in froms]
            for array, offset, part in by_generation[i][1:]:
                check(array >> 16 < len(froms), f"a piece of shard {array >> 16}: there are {len(froms)}")
                mine[array >> 16].append((array & 255, offset, part))
            one = {"filter": inner, "bits": bits or None, "hashes": hashes}
            kind = FILTERS[inner]
            self.all.append((froms, [kind(one, mine[j], hash_of, share) for j, share in enumerate(shares_of(froms))]))

    def has(self, key, h):
        return any(shards[shard_of(froms, h)].has(key, h) for froms, shards in self.all)


class BinaryFuse:
    def __init__(self, plan, pieces, hash_of, share):
        head = [part for array, _, part in pieces if array == 0]
        check(len(head) == 1 and not isinstance(head[0], int) and len(head[0]) == 32, "a set without its header")
        self.width, self.length, self.segments, self.seed, urls = struct.unpack("<IIIxxxxQQ", head[0])
        check(self.width in (8, 16, 32), f"fingerprints of {self.width} bits: expected 8, 16 or 32")
        check(self.length in (1 << i for i in range(2, 19)), f"segments of {self.length} cells")
        check((urls == 0) == (self.segments == 0), f"{urls} URLs in {self.segments} segments")
        cells = (self.segments + 2) * self.length if self.segments else 0
        only_arrays(pieces, [0, 1])
        parts, at = [], 0
        for _, offset, part in (piece for piece in pieces if piece[0] == 1):
            check(offset == at and not isinstance(part, int), "fingerprints that are not there in order")
            parts.append(part)
            at += len(part)
        check(at == cells * self.width // 8 and urls <= cells, f"{at} bytes of fingerprints for {cells} cells")
        self.cells = memoryview(b"".join(parts)).cast({8: "B", 16: "H", 32: "I"}[self.width])

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

    def __init__(self, plan, pieces, hash_of, share):
        self.keys = set()
        place = 0
        for array, offset, text in pieces:
            check(array == 0 and offset == place and not isinstance(text, int), "keys that are not there in order")
            at = 0
            while at < len(text):
                (size,) = struct.unpack_from("<I", text, at)
                check(at + 4 + size <= len(text), f"a key of {size} bytes that has fewer")
                self.keys.add(text[at + 4 : at + 4 + size])
                at += 4 + size
            place += len(text)

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


class Share:
    """The hashes of one instance, of `shares`: their first 32 bits are in [start, stop)."""

    def __init__(self, start, stop, shares):
        self.start, self.stop, self.shares = start, stop, shares


def shares_of(froms):
    """What belongs to each shard. In files of earlier versions some begin at or behind a later one: those have nothing."""
    for i, start in enumerate(froms):
        later = froms[i + 1 :]
        stop = start if any(one <= start for one in later) else min(later + [1 << 32])
        yield Share(start, stop, len(froms))


def shard_of(froms, h):
    """The last shard that begins at or before a hash."""
    return max(i for i, start in enumerate(froms) if start <= h >> 32)


# Filters that take 64-bit hashes: only they can be in several instances.
SPREAD = ("fingerprint", "classic", "blocked", "scalable", "window", "binary-fuse")


class Sieve:
    def __init__(self, header, end, pieces):
        self.header = header
        self.urls = whole("urls", end["urls"], 0, MOST_WHOLE)
        plan, name = header["plan"], header["filter"]
        names, key = header["hash"]["names"], bytes.fromhex(header["hash"]["key"])
        check(len(key) == 16, f"a key of {len(key)} bytes: expected 16")
        if names == ["siphash"]:
            self.hash_of = lambda text: siphash13(key, text)
        elif names == ["xxh64"]:
            self.hash_of = lambda text: xxh64(int.from_bytes(key[:8], "little"), text)
        else:
            raise SieveFileError(f"hash {str(names)[:40]}: this reader knows siphash and xxh64")
        if not isinstance(name, str) or name not in FILTERS:
            raise SieveFileError(f"filter {str(name)[:40]!r}: this reader does not know it")
        check(plan["filter"] == name, f"a plan of another filter than {name}")
        froms = header["shards"]
        check(isinstance(froms, list) and 1 <= len(froms) <= (4096 if name in SPREAD else 1), "a wrong number of shards")
        for i, start in enumerate(froms):
            whole("a shard that begins at", start, 0, (1 << 32) - 1 if i else 0)
        self.froms = froms
        mine = [[] for _ in froms]
        for shard, array, offset, part in pieces:
            check(shard < len(froms), f"a chunk of shard {shard}: there are {len(froms)}")
            mine[shard].append((array, offset, part))
        self.filters = [
            FILTERS[name](plan, mine[i], self.hash_of, share) for i, share in enumerate(shares_of(froms))
        ]

    @classmethod
    def open(cls, path):
        """Checks all that the file says. Raises SieveFileError, one line, for what no sieve has."""
        parts = read_file(path)
        try:
            return cls(*parts)
        except SieveFileError as error:
            raise SieveFileError(f"{path}: {error}") from None
        except (ArithmeticError, LookupError, TypeError, ValueError, struct.error, AttributeError) as error:
            raise SieveFileError(f"{path} is damaged: what it says does not fit together ({error})") from None

    def has(self, key):
        """Whether a key, as bytes, was seen. Errs as the filter does: towards True, never towards False."""
        h = self.hash_of(key)
        return self.filters[shard_of(self.froms, h)].has(key, h)


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
