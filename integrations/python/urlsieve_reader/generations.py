"""`scalable` and `window`: several generations of another filter."""

import struct

from .bloom import Blocked, Classic
from .checks import check, whole
from .fingerprint import Fingerprint
from .shares import shard_of, shares_of

INNER = {"fingerprint": Fingerprint, "blocked": Blocked, "classic": Classic}


class Generations:
    """`scalable` and `window`: seen when any generation has it. Forgetting by age is left to the writer."""

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
            check(is_size, f"generation {i} does not start with its size")
            bits, hashes = struct.unpack_from("<QI", size)
            froms = list(struct.unpack_from(f"<{len(size) // 4 - 4}I", size, 16)) or [0]
            check(froms[0] == 0 and all(a < b for a, b in zip(froms, froms[1:])), "shards that are not in ascending order from 0")
            mine = [[] for _ in froms]
            for array, offset, part in by_generation[i][1:]:
                check(array >> 16 < len(froms), f"a piece of shard {array >> 16}: there are {len(froms)}")
                mine[array >> 16].append((array & 255, offset, part))
            one = {"filter": inner, "bits": bits or None, "hashes": hashes}
            kind = INNER[inner]
            self.all.append((froms, [kind(one, mine[j], hash_of, share) for j, share in enumerate(shares_of(froms))]))

    def has(self, key, h):
        return any(shards[shard_of(froms, h)].has(key, h) for froms, shards in self.all)
