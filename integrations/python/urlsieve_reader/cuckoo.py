"""`cuckoo`: fingerprints of a chosen width in buckets of four."""

from .bits import Bits
from .checks import bits_and_hashes, check, only_arrays, whole
from .hashes import M64, derived, mix, rotl, spread


class Cuckoo:
    def __init__(self, plan, pieces, hash_of, share):
        bits, hashes = bits_and_hashes(plan)
        check(hashes == 2, f"plan.hashes {hashes}: expected 2")
        self.width = whole("plan.shape.fingerprintBits", plan["shape"]["fingerprintBits"], 7, 40)
        bucket = 4 * self.width
        check(bits % bucket == 0, f"plan.bits {bits}: expected a multiple of {bucket}")
        only_arrays(pieces, [0])
        self.buckets = -(-bits // bucket // share.shares)
        self.bits = Bits(pieces, 0, bucket * self.buckets)

    def has(self, key, h):
        own = 1 + spread(derived(h, 0), (1 << self.width) - 1)
        first = spread(rotl(h, 32), self.buckets)
        both = spread(mix(own * 0x9E3779B97F4A7C15 & M64), self.buckets)
        buckets = (first, (both - first) % self.buckets)
        return any(self.holds(4 * bucket + i, own) for bucket in buckets for i in range(4))

    def holds(self, slot, own):
        at = slot * self.width
        return all(self.bits.has(at + i) == (own >> i & 1) for i in range(self.width))
