"""One bit array of a filter."""

from bisect import bisect_right

from .checks import MAX_INSTANCE, check


class Bits:
    """Runs of zeros take no memory, however long they are."""

    def __init__(self, pieces, array, size):
        self.starts, self.parts, total = [], [], -(-size // 8)
        check(total <= MAX_INSTANCE, f"an array of {size} bits: expected at most {MAX_INSTANCE} bytes")
        at = 0
        for number, offset, part in pieces:
            if number != array:
                continue
            length = part if isinstance(part, int) else len(part)
            check(offset == at and length > 0, f"the pieces of array {array} are not in order")
            self.starts.append(offset)
            self.parts.append(part)
            at += length
        check(at == total, f"array {array} has {at} bytes: expected {total}")
        last = self.parts[-1]
        check(isinstance(last, int) or size % 8 == 0 or last[-1] >> size % 8 == 0, f"bits past the end of array {array}")

    def has(self, at):
        i = bisect_right(self.starts, at >> 3) - 1
        part = self.parts[i]
        return not isinstance(part, int) and part[(at >> 3) - self.starts[i]] >> (at & 7) & 1 == 1
