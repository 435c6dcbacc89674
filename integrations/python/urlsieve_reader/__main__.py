"""The command `python3 -m urlsieve_reader`: prints seen or new for each key."""

import sys

from . import Sieve, SieveFileError, __doc__ as usage


def main(arguments):
    lines = "--lines" in arguments
    rest = [argument for argument in arguments if argument != "--lines"]
    if not rest or (lines and len(rest) > 1):
        print(usage.strip(), file=sys.stderr)
        return 2
    try:
        sieve = Sieve.open(rest[0])
    except (OSError, SieveFileError) as error:
        print(f"urlsieve_reader: {error}", file=sys.stderr)
        return 1
    keys = sys.stdin.buffer if lines else (key.encode() for key in rest[1:])
    for key in keys:
        print("seen" if sieve.has(key.rstrip(b"\n") if lines else key) else "new")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
