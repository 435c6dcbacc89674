"""The part of the hashes that each instance of a filter holds."""


class Share:
    """The hashes of one instance, of `shares`: their first 32 bits are in [start, stop)."""

    def __init__(self, start, stop, shares):
        self.start, self.stop, self.shares = start, stop, shares


def shares_of(froms):
    """The share of each shard. In files of earlier versions a shard may start at or behind a later one: its share is empty."""
    for i, start in enumerate(froms):
        later = froms[i + 1 :]
        stop = start if any(one <= start for one in later) else min(later + [1 << 32])
        yield Share(start, stop, len(froms))


def shard_of(froms, h):
    """The last shard that starts at or before a hash."""
    return max(i for i, start in enumerate(froms) if start <= h >> 32)
