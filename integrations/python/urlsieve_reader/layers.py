"""Filters that hash parts of a key: `multilayer`, `keyword-layers`, `prefix-layers`, `eigenvalue`."""

from .bits import Bits
from .checks import bits_and_hashes, check, only_arrays, whole
from .hashes import derived, spread
from .keys import FEATURES, after_scheme, words_of


class Multilayer:
    """`multilayer` and `keyword-layers`."""

    def __init__(self, plan, pieces, hash_of, share):
        shape = plan["shape"]
        self.mode, self.count = shape["mode"], whole("plan.hashes", plan["hashes"], 1, 64)
        check(self.mode in (["words"] if plan["filter"] == "keyword-layers" else ["join", "grow"]), "an unknown mode")
        self.size = whole("plan.shape.bitsPerLayer", shape["bitsPerLayer"], 1, 1 << 48)
        layers = whole("plan.shape.layers", shape["layers"], 1, 64)
        most = max([array + 1 for array, _, _ in pieces if array < 64], default=0)
        check(layers <= most and (most == layers or self.mode == "grow"), f"{most} layers: expected {layers}")
        only_arrays(pieces, range(65))
        self.layers = [Bits(pieces, layer, self.size) for layer in range(most)]
        self.xor = Bits(pieces, 64, self.size)
        self.hash_of = hash_of

    def parts(self, key):
        text = key[after_scheme(key) :]
        if self.mode == "words":
            return list(words_of(text))
        most = len(self.layers) if self.mode == "join" else 64
        return text.split(b"/", most - 1)

    def has(self, key, h):
        xored = [0] * self.count
        for i, part in enumerate(self.parts(key)):
            layer = i % len(self.layers) if self.mode == "words" else i
            if layer >= len(self.layers):
                return False
            part_hash = self.hash_of(part)
            for j in range(self.count):
                at = spread(derived(part_hash, j), self.size)
                if not self.layers[layer].has(at):
                    return False
                xored[j] ^= at
        return all(self.xor.has(at % self.size) for at in xored)


class PrefixLayers:
    def __init__(self, plan, pieces, hash_of, share):
        self.size, self.count = bits_and_hashes(plan)
        self.layers = whole("plan.shape.layers", plan["shape"]["layers"], 1, 63)
        self.folder_hashes = whole("plan.shape.folderHashes", plan["shape"]["folderHashes"], 1, 64)
        only_arrays(pieces, [0])
        self.bits = Bits(pieces, 0, self.size)
        self.hash_of = hash_of

    def _has(self, text, count, layer):
        h = self.hash_of(text)
        return all(self.bits.has(spread(derived(h, 64 * layer + j), self.size)) for j in range(count))

    def has(self, key, h):
        if not self._has(key, self.count, 0):
            return False
        text = key[after_scheme(key) :]
        folders = text.split(b"?")[0].split(b"/")[:-1]
        for layer in range(1, min(self.layers, len(folders)) + 1):
            folder = b"/".join(folders[:layer]) + b"/"
            if not self._has(folder, self.folder_hashes, layer):
                return False
        return True


class Eigenvalue:
    def __init__(self, plan, pieces, hash_of, share):
        shape = plan["shape"]
        bits, self.count = bits_and_hashes(plan)
        self.url_bits = whole("plan.shape.urlBits", shape["urlBits"], 1, 1 << 48)
        self.feature_bits = whole("plan.shape.featureBits", shape["featureBits"], 1, 1 << 48)
        self.feature_hashes = whole("plan.shape.featureHashes", shape["featureHashes"], 1, 64)
        check(bits == self.url_bits + self.feature_bits, "plan.bits: expected the sum of both regions")
        self.feature = FEATURES[shape["features"]]
        only_arrays(pieces, [0, 1])
        self.bits = Bits(pieces, 0, self.url_bits)
        self.features = Bits(pieces, 1, self.feature_bits)
        self.hash_of = hash_of

    def has(self, key, h):
        h = self.hash_of(key)
        if not all(self.bits.has(spread(derived(h, j), self.url_bits)) for j in range(self.count)):
            return False
        h = self.hash_of(self.feature(key[after_scheme(key) :]))
        hashes = range(self.feature_hashes)
        return all(self.features.has(spread(derived(h, 64 + j), self.feature_bits)) for j in hashes)
