"""The parts of a key that layered filters hash: segments, words, features."""


def after_scheme(key):
    """Offset of the host: behind '://' in the first 32 bytes, if no slash comes before it."""
    for at in range(min(len(key), 32) - 2):
        if key[at] == 0x3A:
            return at + 3 if key[at + 1 : at + 3] == b"//" else 0
        if key[at] == 0x2F:
            return 0
    return 0


def is_word(c):
    return c >= 0x80 or 0x61 <= (c | 0x20) <= 0x7A or 0x30 <= c <= 0x39


def words_of(text):
    word = bytearray()
    for c in text:
        if is_word(c):
            word.append(c)
        elif word:
            yield bytes(word)
            word.clear()
    if word:
        yield bytes(word)


def host_initials(text):
    if len(text) > 4 and text.startswith(b"www."):
        text = text[4:]
    for stop in b"/?:":
        text = text.split(bytes([stop]))[0]
    initials = bytearray()
    first = True
    for c in text:
        if first:
            initials.append(c)
        first = c == 0x2E
    return bytes(initials[:-1] if len(initials) > 1 else initials)


def path_shape(text):
    slash = text.find(b"/")
    shape, before = bytearray(), 0
    for c in (text[slash:] if slash >= 0 else b"").split(b"?")[0]:
        if c >= 0x80 or 0x61 <= (c | 0x20) <= 0x7A:
            c = 0x61
        elif 0x30 <= c <= 0x39:
            c = 0x30
        else:
            before = 0
        if c != before:
            shape.append(c)
        before = c if c in (0x61, 0x30) else 0
    return bytes(shape)


def last_segment(text):
    return text.split(b"?")[0].split(b"/")[-1]


def digits(text):
    return bytes(c for c in text if 0x30 <= c <= 0x39)


FEATURES = {
    "host-initials": host_initials,
    "path-shape": path_shape,
    "last-segment": last_segment,
    "digits": digits,
}
