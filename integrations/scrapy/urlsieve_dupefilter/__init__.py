"""A Scrapy duplicate filter that queries `urlsieve serve`, and a spider middleware that queries in batches.

Any number of spiders, on any number of machines, share one sieve, which survives their restarts. It errs as the sieve
does, towards "seen" at its rate; on any failure it errs towards "new": a page may be fetched twice, none is lost.
Needs only the package `redis` (4.0 or later). Settings and guarantees: README.md in the folder above.
"""

from .dupefilter import UrlsieveDupeFilter
from .journal import Journal
from .middleware import UrlsieveMiddleware
from .recent import RecentDigests

__all__ = ["Journal", "RecentDigests", "UrlsieveDupeFilter", "UrlsieveMiddleware"]
