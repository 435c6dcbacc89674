"""`classic` and `blocked`: Bloom filters over the hash of the key."""

from .bits import Bits
from .checks import bits_and_hashes, check, only_arrays
from .hashes import derived, rotl, spread


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
