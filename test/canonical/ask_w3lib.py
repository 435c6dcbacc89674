"""Keys by the real w3lib: a JSON list of URLs on stdin, on stdout {version, keys}; null where it raises ValueError."""
import json
import sys

import w3lib
from w3lib.url import canonicalize_url


def key(url):
    try:
        return canonicalize_url(url, keep_fragments=False)
    except ValueError:
        return None


version = f"w3lib {w3lib.__version__} on Python {sys.version_info.major}.{sys.version_info.minor}"
json.dump({"version": version, "keys": [key(url) for url in json.load(sys.stdin)]}, sys.stdout)
