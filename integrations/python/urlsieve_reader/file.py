"""The .sieve file: header, chunks and end, each with its checksum."""

import struct
import zlib
from json import loads

from .checks import MAX_INSTANCE, SieveFileError

PIECE, ZEROS, END = b"PIEC", b"ZERO", b"END."
MAX_JSON = 16 << 20


def read_file(path):
    """The header's JSON, the end's JSON, and the pieces: (shard, array, offset, bytes, or a number of zeros)."""
    with open(path, "rb") as file:
        data = file.read()

    def damaged(at, what):
        return SieveFileError(f"{path} is damaged at byte {at}: {what}")

    if data[:8] != b"URLSIEVE":
        raise SieveFileError(f"{path} is not a sieve: it begins with {data[:8]!r}")
    if len(data) < 20:
        raise damaged(len(data), "the file ends in its header")
    version, length = struct.unpack_from("<II", data, 8)
    if version not in (1, 2, 3):
        raise SieveFileError(f"{path} has format version {version}: this reader knows versions 1 to 3")
    at = 16 + length
    if at + 4 > len(data):
        raise damaged(len(data), "the file ends in its header")
    if zlib.crc32(data[:at]) != struct.unpack_from("<I", data, at)[0]:
        raise damaged(at, "the header does not match its checksum")
    header = parse_object(data[16:at], damaged(16, "its header is not a JSON object"))
    at += 4
    pieces = []
    while True:
        head = data[at : at + 40]
        if len(head) < 40:
            raise damaged(at, "the end is missing")
        tag, shard, array, _, offset, size, head_crc, crc = struct.unpack("<4sIIIQQII", head)
        if zlib.crc32(head[:32]) != head_crc:
            raise damaged(at, "a chunk header does not match its checksum")
        if tag not in (PIECE, ZEROS, END):
            raise damaged(at, f"a chunk of unknown kind {tag!r}")
        if tag == ZEROS:
            if crc != 0 or not 0 < size <= MAX_INSTANCE:
                raise damaged(at, f"a run of {size} zeros: expected 1 to {MAX_INSTANCE}")
            pieces.append((shard, array, offset, size))
            at += 40
            continue
        payload = data[at + 40 : at + 40 + size]
        if len(payload) < size or zlib.crc32(payload) != crc:
            raise damaged(at + 40, "a chunk does not match its checksum")
        if tag == END:
            end = parse_object(payload, damaged(at + 40, "its end is not a JSON object"))
            if end.get("chunks") != len(pieces):
                raise damaged(at, f"{len(pieces)} chunks, expected {end.get('chunks')!r}")
            return header, end, pieces
        at += 40 + size
        pieces.append((shard, array, offset, payload))


def parse_object(text, error):
    """The JSON object in a text; raises the error if it is not one."""
    try:
        value = loads(text) if len(text) <= MAX_JSON else None
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise error
    return value
