"""A sieve: the hash of a key, and the filter that answers for it."""

import struct

from .baselines import Keys
from .binary_fuse import BinaryFuse
from .bloom import Blocked, Classic
from .checks import MAX_WHOLE, SieveFileError, check, whole
from .cuckoo import Cuckoo
from .file import read_file
from .fingerprint import Fingerprint
from .generations import Generations
from .hashes import siphash13, xxh64
from .layers import Eigenvalue, Multilayer, PrefixLayers
from .shares import shard_of, shares_of

# Each class has has(key, h), where h is the key's 64-bit hash.
FILTERS = {
    "fingerprint": Fingerprint,
    "classic": Classic,
    "blocked": Blocked,
    "cuckoo": Cuckoo,
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

# Filters of 64-bit hashes: only these can have several instances.
SPREAD = ("fingerprint", "classic", "blocked", "cuckoo", "scalable", "window", "binary-fuse")


class Sieve:
    def __init__(self, header, end, pieces):
        self.header = header
        self.urls = whole("urls", end["urls"], 0, MAX_WHOLE)
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
        check(plan["filter"] == name, f"a plan of filter {str(plan['filter'])[:40]!r}: expected {name!r}")
        froms = header["shards"]
        most = 4096 if name in SPREAD else 1
        is_valid = isinstance(froms, list) and 1 <= len(froms) <= most
        check(is_valid, f"shards {repr(froms)[:40]}: expected a list of 1 to {most}")
        for i, start in enumerate(froms):
            whole("the start of a shard", start, 0, (1 << 32) - 1 if i else 0)
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
        """Reads and checks a file. Raises SieveFileError, one line, when it is not a valid sieve."""
        parts = read_file(path)
        try:
            return cls(*parts)
        except SieveFileError as error:
            raise SieveFileError(f"{path}: {error}") from None
        except (ArithmeticError, LookupError, TypeError, ValueError, struct.error, AttributeError) as error:
            raise SieveFileError(f"{path} is damaged: its contents are inconsistent ({error})") from None

    def has(self, key):
        """Whether a key (bytes) was seen. Errs as the filter does: towards True, never towards False."""
        h = self.hash_of(key)
        return self.filters[shard_of(self.froms, h)].has(key, h)
