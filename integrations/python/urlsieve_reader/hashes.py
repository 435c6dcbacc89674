"""SipHash-1-3, XXH64, and the hashes and addresses derived from a 64-bit hash."""

import struct

M64 = (1 << 64) - 1


def rotl(x, by):
    return ((x << by) | (x >> (64 - by))) & M64


def siphash13(key, message):
    k0, k1 = struct.unpack("<QQ", key)
    v0, v1 = k0 ^ 0x736F6D6570736575, k1 ^ 0x646F72616E646F6D
    v2, v3 = k0 ^ 0x6C7967656E657261, k1 ^ 0x7465646279746573

    def rounds(count):
        nonlocal v0, v1, v2, v3
        for _ in range(count):
            v0 = (v0 + v1) & M64
            v1 = rotl(v1, 13) ^ v0
            v0 = rotl(v0, 32)
            v2 = (v2 + v3) & M64
            v3 = rotl(v3, 16) ^ v2
            v0 = (v0 + v3) & M64
            v3 = rotl(v3, 21) ^ v0
            v2 = (v2 + v1) & M64
            v1 = rotl(v1, 17) ^ v2
            v2 = rotl(v2, 32)

    whole = len(message) & ~7
    words = list(struct.unpack_from(f"<{whole // 8}Q", message))
    words.append(int.from_bytes(message[whole:], "little") | (len(message) & 255) << 56)
    for word in words:
        v3 ^= word
        rounds(1)
        v0 ^= word
    v2 ^= 0xFF
    rounds(3)
    return v0 ^ v1 ^ v2 ^ v3


P1, P2, P3 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9
P4, P5 = 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5


def xxh64(seed, message):
    def lane_round(acc, lane):
        return rotl((acc + lane * P2) & M64, 31) * P1 & M64

    size, at = len(message), 0
    if size >= 32:
        lanes = [(seed + P1 + P2) & M64, (seed + P2) & M64, seed, (seed - P1) & M64]
        while at + 32 <= size:
            words = struct.unpack_from("<4Q", message, at)
            lanes = [lane_round(acc, word) for acc, word in zip(lanes, words)]
            at += 32
        h = sum(rotl(acc, by) for acc, by in zip(lanes, (1, 7, 12, 18))) & M64
        for acc in lanes:
            h = ((h ^ lane_round(0, acc)) * P1 + P4) & M64
    else:
        h = (seed + P5) & M64
    h = (h + size) & M64
    while at + 8 <= size:
        h = (rotl(h ^ lane_round(0, struct.unpack_from("<Q", message, at)[0]), 27) * P1 + P4) & M64
        at += 8
    if at + 4 <= size:
        h = (rotl(h ^ struct.unpack_from("<I", message, at)[0] * P1 & M64, 23) * P2 + P3) & M64
        at += 4
    for byte in message[at:]:
        h = rotl(h ^ byte * P5 & M64, 11) * P1 & M64
    h = (h ^ h >> 33) * P2 & M64
    h = (h ^ h >> 29) * P3 & M64
    return h ^ h >> 32


def mix(x):
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & M64
    x = (x ^ x >> 27) * 0x94D049BB133111EB & M64
    return x ^ x >> 31


def derived(h, j):
    """The j-th hash derived from h."""
    return mix((h + (j + 1) * 0x9E3779B97F4A7C15) & M64)


def spread(x, size):
    """x, of 64 bits, as an address in [0, size)."""
    return x * size >> 64
