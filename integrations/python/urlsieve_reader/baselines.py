"""The papers' baselines: `hash-set`, `sorted-array`, `linear`, `trie`. They hold the keys themselves."""

import struct

from .checks import check


class Keys:
    def __init__(self, plan, pieces, hash_of, share):
        self.keys = set()
        place = 0
        for array, offset, text in pieces:
            check(array == 0 and offset == place and not isinstance(text, int), "keys that are not in order")
            at = 0
            while at < len(text):
                (size,) = struct.unpack_from("<I", text, at)
                check(at + 4 + size <= len(text), f"a key of {size} bytes past the end of its piece")
                self.keys.add(text[at + 4 : at + 4 + size])
                at += 4 + size
            place += len(text)

    def has(self, key, h):
        return key in self.keys
