"""Reads a .sieve file of urlsieve and answers whether it has seen a key. Python 3.9 or later, standard library only.

    sieve = Sieve.open("seen.sieve")         # checks every checksum
    sieve.has(b"https://example.com/")       # True: seen (as the filter errs); False: certainly new

    python3 -m urlsieve_reader seen.sieve https://example.com/ ...
    python3 -m urlsieve_reader --lines seen.sieve < keys.txt

Keys are used unchanged: this reader does not canonicalise URLs. For a sieve of profile 'raw' a key is the URL itself;
for other profiles use the key that `urlsieve explain` prints. docs/format.md describes the format.
"""

from .checks import SieveFileError
from .hashes import derived, mix, rotl, siphash13, spread, xxh64
from .sieve import Sieve

__all__ = ["Sieve", "SieveFileError", "derived", "mix", "rotl", "siphash13", "spread", "xxh64"]
