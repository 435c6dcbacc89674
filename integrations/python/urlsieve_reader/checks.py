"""Checks of what a file contains, and the error they raise."""

# Larger than any instance of a filter, in bytes.
MAX_INSTANCE = 1 << 32
MAX_WHOLE = (1 << 53) - 1


class SieveFileError(Exception):
    """The file is damaged, of another version, or has contents that this reader does not know."""


def check(holds, what):
    if not holds:
        raise SieveFileError(what)


def whole(name, value, least, most):
    """A whole number within bounds."""
    is_whole = isinstance(value, int) and not isinstance(value, bool) and least <= value <= most
    check(is_whole, f"{name} {str(value)[:40]}: expected a whole number from {least} to {most}")
    return value


def bits_and_hashes(plan):
    """The plan's number of bits and of hash functions."""
    return whole("plan.bits", plan["bits"], 1, 1 << 48), whole("plan.hashes", plan["hashes"], 1, 64)


def only_arrays(pieces, arrays):
    """Every piece belongs to one of these arrays."""
    for array, _, _ in pieces:
        check(array in arrays, f"a piece of unknown array {array}")
