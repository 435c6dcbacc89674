"""`binary-fuse`: a frozen set."""

import struct

from .checks import check, only_arrays
from .hashes import M64, mix, spread


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
            check(offset == at and not isinstance(part, int), "fingerprints that are not in order")
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
