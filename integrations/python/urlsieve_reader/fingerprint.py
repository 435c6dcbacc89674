"""`fingerprint`: the 64-bit hashes themselves, in segments of a hash table."""

import struct

from .checks import check


class Fingerprint:
    def __init__(self, plan, pieces, hash_of, share):
        check(plan["bits"] is None and plan["hashes"] == 1, "not the plan of a fingerprint filter")
        self.hashes = set()
        start, stop = share.start, share.stop
        covered = None
        for bits, first, segment in pieces:
            slots = 0 if isinstance(segment, int) else (len(segment) - 64) // 8
            check(slots in (2048 << i for i in range(5)) and len(segment) == 64 + 8 * slots, "a segment of invalid size")
            check(4 <= bits <= (27 if slots == 32768 else 4), f"a segment of {bits} directory bits")
            check(len(pieces) == 1 or slots == 32768, "several segments, one of them smaller than full size")
            count, begin, end = struct.unpack_from("<III", segment)
            check(begin == first < end <= 1 << bits, "a segment of invalid range")
            check(covered is None or covered == first / (1 << bits), "segments that are not contiguous")
            if covered is None:
                check(start == stop or first / (1 << bits) <= start / (1 << 32), "no segment for the first hashes")
            covered = end / (1 << bits)
            found = self.read(struct.unpack_from(f"<{slots}Q", segment, 64), begin, end, bits)
            check(found == count, f"a segment that declares {count} hashes and has {found}")
        is_covered = covered is not None and (start == stop or covered >= stop / (1 << 32))
        check(is_covered, "no segment for the last hashes")

    def read(self, slots, begin, end, bits):
        """Reads the hashes of a segment; each must be where a lookup finds it."""
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
