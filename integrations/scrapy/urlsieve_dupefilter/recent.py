"""The most recently added digests, in a table of fixed size."""

import struct
from array import array


class RecentDigests:
    """Buckets of four digests, 8 bytes each. A full bucket drops one of its own. False positives: 4 in 2**64."""

    WAYS = 4
    PARTS = struct.Struct("<QQ")

    def __init__(self, size):
        self.buckets = max(0, size) // self.WAYS
        self.slots = array("Q", bytes(8 * self.WAYS * self.buckets))
        self.next = 0

    def __contains__(self, digest):
        if not self.buckets:
            return False
        start, mark = self._place(digest)
        return mark in self.slots[start : start + self.WAYS]

    def add(self, digest):
        if not self.buckets:
            return
        start, mark = self._place(digest)
        bucket = self.slots[start : start + self.WAYS]
        if mark in bucket:
            return
        if 0 in bucket:
            self.slots[start + bucket.index(0)] = mark
            return
        self.next = (self.next + 1) % self.WAYS
        self.slots[start + self.next] = mark

    # 0 is an empty slot.
    def _place(self, digest):
        place, mark = self.PARTS.unpack_from(digest)
        return place % self.buckets * self.WAYS, mark or 1
