"""`fingerprint`: 64-bit hashes, in segments of a hash table."""

import struct

from .checks import check

# The array of a segment is its number of directory bits and, from the third multiple of 32 on, its layout; then come the hashes
# without a slot.
ARRAYS = 32
FIRST_LAYOUT = 2
EXILES = 5 * ARRAYS
MOST_EXILES = 256
# Layouts: one segment below full size; few segments; many, each of which has at most 1/32 of the range.
FIRST, FEW, MANY = range(3)
BUCKETS = 2048


class Fingerprint:
    def __init__(self, plan, pieces, hash_of, share):
        check(plan["bits"] is None and plan["hashes"] == 1, "not the plan of a fingerprint filter")
        self.hashes = set()
        start, stop = share.start, share.stop
        covered = None
        exiles = pieces[-1] if pieces and pieces[-1][0] == EXILES else None
        segments = pieces[:-1] if exiles else pieces
        layout = segments[0][0] // ARRAYS - FIRST_LAYOUT if segments else FIRST
        check(layout == -FIRST_LAYOUT or FIRST <= layout <= MANY, "segments of an unknown layout")
        are_old = layout < FIRST
        for array, first, segment in segments:
            check(not isinstance(segment, int), "a segment without bytes")
            check(array // ARRAYS - FIRST_LAYOUT == layout, "segments of two layouts")
            bits = array % ARRAYS
            is_full_size = old_size(segment) if are_old else size_of(segment, layout)
            check(4 <= bits <= (27 if is_full_size else 4), f"a segment of {bits} directory bits")
            check(len(segments) == 1 or is_full_size, "several segments, one of them smaller than full size")
            check(covered is None or covered == first / (1 << bits), "segments that are not contiguous")
            if covered is None:
                check(start == stop or first / (1 << bits) <= start / (1 << 32), "no segment for the first hashes")
            count, own_first, end = struct.unpack_from("<III", segment)
            check(own_first == first < end <= 1 << bits, "a segment of invalid range")
            check(layout != MANY or end - first << 5 <= 1 << bits, "a segment of too long a range")
            found = self.read_old(segment, first, end, bits) if are_old else self.read(segment, layout, first, end, bits)
            check(found == count, f"a segment that declares {count} hashes and has {found}")
            covered = end / (1 << bits)
        is_covered = covered is not None and (start == stop or covered >= stop / (1 << 32))
        check(is_covered, "no segment for the last hashes")
        if exiles:
            check(not are_old, "hashes without a slot in a file of an earlier version")
            self.read_exiles(exiles)

    def read(self, segment, layout, begin, end, bits):
        """Reads the hashes of a segment; each must be where a lookup finds it."""
        buckets = len(segment) // 64 - 1
        home_bits = buckets.bit_length() - 1
        slots = 8 + layout
        extra_bits = 0 if layout == MANY else 16 - home_bits
        states = [struct.unpack_from("<I", segment, 124 + 64 * i)[0] for i in range(buckets)]
        start = begin << (64 - bits)
        count = 0
        for here, state in enumerate(states):
            bucket = segment[64 + 64 * here : 128 + 64 * here]
            own, guests = state & 1023, state >> 10 & 1023
            check(not own & guests and not (own | guests) >> slots and not state >> 28, "a bucket of invalid state")
            highs = struct.unpack_from(f"<{slots}I", bucket)
            lows = struct.unpack_from(f"<{slots}H", bucket, 42 if layout == FEW else 40)
            packed = int.from_bytes(bucket[36:42], "little")
            check(layout != FEW or not packed >> 45, "bytes that are not in use and not empty")
            for slot in range(slots):
                extra = bucket[32 + slot] if layout == FIRST else packed >> 5 * slot & 31 if layout == FEW else 0
                high, low = highs[slot], lows[slot]
                if not (own | guests) >> slot & 1:
                    check(not (high or low or extra), "a slot that is not in use and not empty")
                    continue
                is_guest = guests >> slot & 1
                home = (here - (low & 127) - 1) % buckets if is_guest else here
                h = ((high << extra_bits | extra) << 16 | low) << home_bits | home
                if layout == MANY:
                    h |= start >> 59 << 59
                    h += 1 << 59 if h < start else 0
                is_within = begin <= h >> (64 - bits) < end
                is_found = not is_guest or states[home] >> 20 >> (low >> 7 & 7) & 1
                check(is_within and is_found and h not in self.hashes, "a hash in the wrong place")
                self.hashes.add(h)
                count += 1
        check(count <= buckets * slots * 29 // 32 + 128, "a segment without free slots")
        return count

    def read_exiles(self, piece):
        """Reads the hashes that found no slot."""
        _, offset, payload = piece
        is_list = not isinstance(payload, int) and len(payload) % 8 == 0 and 8 <= len(payload) <= 8 * MOST_EXILES
        check(offset == 0 and is_list, "hashes without a slot of invalid size")
        hashes = struct.unpack(f"<{len(payload) // 8}Q", payload)
        check(self.hashes.isdisjoint(hashes) and len(set(hashes)) == len(hashes), "a hash twice")
        self.hashes.update(hashes)

    def read_old(self, segment, begin, end, bits):
        """Reads the hashes of a segment of format version 1 or 2: whole hashes, 0 in an empty slot."""
        held = [h for h in struct.unpack_from(f"<{(len(segment) - 64) // 8}Q", segment, 64) if h]
        check(all(begin <= h >> (64 - bits) < end for h in held), "a hash in the wrong place")
        check(len(set(held)) == len(held), "a hash twice")
        self.hashes.update(held)
        return len(held)

    def has(self, key, h):
        return (h or 1) in self.hashes


def size_of(segment, layout):
    """Whether a segment has full size."""
    sizes = [64 + 64 * BUCKETS] if layout > FIRST else [64 + (64 * 256 << i) for i in range(3)]
    check(len(segment) in sizes, "a segment of invalid size")
    return layout > FIRST


def old_size(segment):
    check(len(segment) in (64 + (8 * 2048 << i) for i in range(5)), "a segment of invalid size")
    return len(segment) == 64 + 8 * 32768
