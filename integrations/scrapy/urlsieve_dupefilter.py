"""Scrapy asks `urlsieve serve` whether it has seen a request: a DUPEFILTER_CLASS and a spider middleware for batches.

Any number of spiders, on any number of machines, share one sieve, which survives their restarts. It errs as the sieve
does, towards "seen" at its rate; whenever something fails it errs towards "new": a page may be fetched twice, none is
lost. Needs the package `redis` (4.0 or later) and nothing else. Settings and promises: README.md beside this file.
"""

import hashlib
import logging
import os
import pickle
import struct
import time
import zlib
from array import array
from weakref import WeakKeyDictionary

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry
from scrapy import Request, signals
from scrapy.dupefilters import BaseDupeFilter
from scrapy.utils.request import referer_str, request_from_dict

logger = logging.getLogger(__name__)

#: Requests asked for in one command.
BATCH = 500
#: Under this name a request carries its number in the journal.
NUMBER = "urlsieve_number"
#: The server is away; any other error of it (no memory, no such sieve) is treated alike once the spider runs.
AWAY = (redis.ConnectionError, redis.TimeoutError)
#: The reason with which a spider is closed that cannot use its sieve.
REASON = "urlsieve_away"
#: Answers of the server that are kept here unless URLSIEVE_MEMORY says otherwise: 8 bytes each.
ANSWERS = 2**20
#: Longer keys are told apart as they stand: making a URL canonical takes some microseconds for each letter.
LONG = 4096


class UrlsieveDupeFilter(BaseDupeFilter):
    """Answers "seen" for a request whose URL the sieve knows. Errs towards "new" when the server does not answer."""

    def __init__(self, crawler):
        settings = crawler.settings
        crawler.urlsieve = self
        self.crawler = crawler
        self.stats = crawler.stats
        self.name = settings.get("URLSIEVE_NAME", "scrapy")
        self.create = settings.getlist("URLSIEVE_CREATE", ["PROFILE", "scrapy"])
        self.by_fingerprint = settings.get("URLSIEVE_KEYS", "url") == "fingerprint"
        self.on_error = settings.get("URLSIEVE_ON_ERROR", "new")
        if self.on_error not in ("new", "close"):
            raise ValueError(f"URLSIEVE_ON_ERROR {self.on_error!r}: expected 'new' or 'close'")
        self.retry_seconds = settings.getfloat("URLSIEVE_RETRY_SECONDS", 5)
        # No retries of its own: an ADD that is sent again after a lost reply would call a new page seen.
        self.client = redis.Redis.from_url(
            settings.get("URLSIEVE_URL", "redis://127.0.0.1:6390"),
            password=settings.get("URLSIEVE_PASSWORD"),
            socket_timeout=settings.getfloat("URLSIEVE_TIMEOUT", 5),
            retry=Retry(NoBackoff(), 0),
        )
        journal = settings.get("URLSIEVE_JOURNAL")
        self.journal = Journal(journal) if journal else None
        self.has_jobdir = bool(settings.get("JOBDIR"))
        #: What the server said of requests that were asked for in a batch.
        self.verdicts = WeakKeyDictionary()
        #: Digests of requests the server was asked for: all of them it has seen.
        self.answers = Answers(settings.getint("URLSIEVE_MEMORY", ANSWERS))
        #: Digests met while the server is away: seen, until it is back and knows their keys.
        self.met = set()
        self.owed = []
        self.away_until = 0.0
        #: Requests of the journal that were handed in again: number and key. They are new, once.
        self.restored = {}
        #: Scrapy's fingerprint tells the same requests apart as the profile `scrapy` does, and no others.
        self.is_scrapy = self.create == ["PROFILE", "scrapy"]
        self.is_ending = False
        self.debug = settings.getbool("DUPEFILTER_DEBUG")
        self.logs_repeats = True

    @classmethod
    def from_crawler(cls, crawler):
        return cls(crawler)

    def open(self):
        """Makes the sieve, unless it is there. A server that is away now is tried again later, or ends the spider."""
        if self.has_jobdir and not self.journal:
            logger.warning(
                "urlsieve: JOBDIR without URLSIEVE_JOURNAL: requests that wait are lost when the spider is killed; "
                "set URLSIEVE_JOURNAL to a file"
            )
        try:
            self._make()
        except redis.AuthenticationError as error:
            self._end(error)
        except AWAY as error:
            self._away(error)
        except redis.RedisError as error:
            self._end(error)

    def close(self, reason):
        try:
            # What was met before the spider was ended was not fetched: it stays unmarked.
            if not self.is_ending:
                self._pay()
        except redis.RedisError:
            logger.warning("urlsieve: %d requests were not marked, the server is away", len(self.owed))
        self.client.close()
        if self.journal:
            self.journal.close(is_empty=self._is_in_jobdir())

    def restore(self, request):
        """A request of the journal: to be fetched, whatever the sieve says of it."""
        key = self.key_of(request)
        self.restored[request.meta[NUMBER]] = key
        # Perhaps it was written down but not marked when the spider was killed.
        self.owed.append(key)

    def request_seen(self, request):
        # A redirect has the number of the request that led to it, but another key.
        number = request.meta.get(NUMBER)
        if number in self.restored and self.restored[number] == self.key_of(request):
            del self.restored[number]
            return False
        verdict = self.verdicts.pop(request, None)
        if verdict is None:
            self.ask([request])
            verdict = self.verdicts.pop(request)
        if verdict and self.journal:
            self.journal.done(request)
        return verdict

    def ask(self, requests):
        """Asks for many requests at once and keeps the verdicts for `request_seen`."""
        keys = [self.key_of(request) for request in requests]
        self.stats.inc_value("urlsieve/asked", len(keys))
        self.stats.inc_value("urlsieve/batches")
        fresh = self._add(requests, keys)
        for request, is_new in zip(requests, fresh):
            self.verdicts[request] = not is_new
        self.stats.inc_value("urlsieve/new", sum(fresh))
        self.stats.inc_value("urlsieve/seen", len(fresh) - sum(fresh))

    def key_of(self, request):
        """The URL, of which the sieve's profile makes the key. A request that is more than a GET of its URL is known by
        Scrapy's fingerprint, which covers method and body too; it is no URL, so the sieve keeps it as it stands."""
        if request.method == "GET" and not request.body and not self.by_fingerprint:
            return request.url
        fingerprint = self.crawler.request_fingerprinter.fingerprint(request).hex()
        return f"({request.method}) {fingerprint}"

    def log(self, request, spider):
        if self.debug:
            logger.debug("Filtered duplicate request: %s (referer: %s)", request, referer_str(request))
        elif self.logs_repeats:
            self.logs_repeats = False
            logger.debug("Filtered duplicate request: %s - no more will be shown", request)
        self.stats.inc_value("dupefilter/filtered", spider=spider)

    # A bool for each key: whether it is new. With a journal a request is written down before the sieve marks it, so that
    # none is lost between the two.
    def _add(self, requests, keys):
        if self._is_away():
            return self._without(requests, keys)
        try:
            self._pay()
            if self.journal:
                seen = self.client.execute_command("SIEVE.HAS", self.name, *keys)
                self._remember((one, key) for one, key, was in zip(requests, keys, seen) if was)
                self.journal.add([one for one, was in zip(requests, seen) if not was], self.crawler.spider)
            verdicts = self.client.execute_command("SIEVE.ADD", self.name, *keys)
        except redis.RedisError as error:
            self._away(error)
            return self._without(requests, keys)
        self.away_until = 0.0
        self._remember(zip(requests, keys))
        return [bool(verdict) for verdict in verdicts]

    # By what the server answered before it went, and what was met since.
    def _without(self, requests, keys):
        self.stats.inc_value("urlsieve/without_server", len(keys))
        fresh = []
        for request, key in zip(requests, keys):
            digest = self._digest(request, key)
            is_new = digest not in self.met and digest not in self.answers
            fresh.append(is_new)
            if is_new:
                self.met.add(digest)
                self.owed.append(key)
                if self.journal and NUMBER not in request.meta:
                    self.journal.add([request], self.crawler.spider)
        return fresh

    def _remember(self, asked):
        for request, key in asked:
            self.answers.add(self._digest(request, key))

    # 20 bytes for all requests that the sieve takes for the same one, or for some of them.
    def _digest(self, request, key):
        if (self.is_scrapy or self.by_fingerprint) and len(key) <= LONG:
            return self.crawler.request_fingerprinter.fingerprint(request)
        return hashlib.blake2b(key.encode("utf-8", "surrogatepass"), digest_size=20).digest()

    def _make(self):
        try:
            self.client.execute_command("SIEVE.CREATE", self.name, *self.create)
        except redis.ResponseError as error:
            try:
                self.client.execute_command("SIEVE.STATS", self.name)
            except redis.ResponseError:
                raise error from None

    # Marks what was met while the server was away.
    def _pay(self):
        if self.owed:
            self._make()
        while self.owed:
            self.client.execute_command("SIEVE.ADD", self.name, *self.owed[:BATCH])
            del self.owed[:BATCH]
        for digest in self.met:
            self.answers.add(digest)
        self.met.clear()

    def _is_away(self):
        return time.monotonic() < self.away_until

    def _away(self, error):
        self.stats.inc_value("urlsieve/errors")
        if self.on_error == "close":
            self._end(error)
        elif not self.away_until:
            logger.warning(
                "urlsieve: %s; requests that this process has not met before count as new until the server is back",
                error,
            )
        self.away_until = time.monotonic() + self.retry_seconds

    # Whether Scrapy's scheduler, which closes its filter last, has just written all requests that wait into JOBDIR.
    def _is_in_jobdir(self):
        engine = self.crawler.engine
        slot = getattr(engine, "slot", None) or getattr(engine, "_slot", None)
        return self.has_jobdir and getattr(getattr(slot, "scheduler", None), "dqs", None) is not None

    # Closes the spider, once, and makes `scrapy crawl` and `scrapy runspider` exit with 1.
    def _end(self, error):
        if self.is_ending:
            return
        self.is_ending = True
        place = "{host}:{port}".format(**{"host": "?", "port": "?", **self.client.connection_pool.connection_kwargs})
        logger.error("urlsieve: the spider ends, its sieve at %s cannot be used: %s", place, error)
        self.away_until = float("inf")
        engine = self.crawler.engine
        if engine is not None and engine.running:
            self._close_spider()
        else:
            self.crawler.signals.connect(self._close_started, signal=signals.engine_started)
        self.crawler.signals.connect(self._fail, signal=signals.engine_stopped)

    # An engine can close its spider when it runs: a turn of the event loop after it says that it has started.
    def _close_started(self):
        from twisted.internet import reactor

        reactor.callLater(0, self._close_spider)

    def _close_spider(self):
        self.crawler.engine.close_spider(self.crawler.spider, REASON)

    # Scrapy's commands exit with 1 when a crawler ends without a spider.
    def _fail(self):
        self.crawler.spider = None


class Answers:
    """The digests that were added last, in a table of fixed size: 8 bytes each, in buckets of four. A full bucket forgets
    one of its own. Errs towards "there" at 4 in 2**64."""

    WAYS = 4
    PARTS = struct.Struct("<QQ")

    def __init__(self, size):
        self.buckets = max(0, size) // self.WAYS
        self.slots = array("Q", bytes(8 * self.WAYS * self.buckets))
        self.next = 0

    def __contains__(self, digest):
        if not self.buckets:
            return False
        start, mark = self._place(digest)
        return mark in self.slots[start : start + self.WAYS]

    def add(self, digest):
        if not self.buckets:
            return
        start, mark = self._place(digest)
        bucket = self.slots[start : start + self.WAYS]
        if mark in bucket:
            return
        if 0 in bucket:
            self.slots[start + bucket.index(0)] = mark
            return
        self.next = (self.next + 1) % self.WAYS
        self.slots[start + self.next] = mark

    # 0 is an empty slot.
    def _place(self, digest):
        place, mark = self.PARTS.unpack_from(digest)
        return place % self.buckets * self.WAYS, mark or 1


class UrlsieveMiddleware:
    """Asks for all requests of a page at once, and keeps the journal: what a killed spider had still to fetch comes first
    when it starts again. Put it nearest to the engine, so that other middlewares drop what they drop before."""

    def __init__(self, crawler):
        self.crawler = crawler

    @classmethod
    def from_crawler(cls, crawler):
        return cls(crawler)

    @property
    def filter(self):
        found = getattr(self.crawler, "urlsieve", None)
        if found is None:
            raise ValueError("UrlsieveMiddleware: expected DUPEFILTER_CLASS to be urlsieve_dupefilter.UrlsieveDupeFilter")
        return found

    def process_start_requests(self, start_requests, spider):
        yield from self._left(spider)
        yield from start_requests

    async def process_start(self, start):  # Scrapy 2.13 and later
        for request in self._left(self.crawler.spider):
            yield request
        async for item in start:
            yield item

    def process_spider_output(self, response, result, spider=None):
        waiting = []
        for item in result:
            if not self._waits(item):
                yield item
                continue
            waiting.append(item)
            if len(waiting) >= BATCH:
                yield from self._asked(waiting)
                waiting = []
        yield from self._asked(waiting)
        self._done(response)

    async def process_spider_output_async(self, response, result, spider=None):
        waiting = []
        async for item in result:
            if self._waits(item):
                waiting.append(item)
            else:
                yield item
        for request in self._asked(waiting):
            yield request
        self._done(response)

    @staticmethod
    def _waits(item):
        return isinstance(item, Request) and not item.dont_filter

    def _asked(self, requests):
        for start in range(0, len(requests), BATCH):
            self.filter.ask(requests[start : start + BATCH])
        return requests

    def _left(self, spider):
        journal = self.filter.journal
        for request in journal.left(spider) if journal else []:
            self.filter.restore(request)
            yield request

    def _done(self, response):
        if self.filter.journal:
            self.filter.journal.done(response.request)


class Journal:
    """Requests that are to be fetched, in one file that is only appended to: for `kill -9`, which Scrapy's JOBDIR does not
    survive. A record counts when it is whole: u32 length, u32 CRC-32, then a pickle of (number, request or None)."""

    HEAD = struct.Struct("<II")

    def __init__(self, path):
        self.path = path
        pending = {}
        for number, request in self._records():
            if request is None:
                pending.pop(number, None)
            else:
                pending[number] = request
        self.last = max(pending, default=0)
        self.restored = list(pending.values())
        # Only what is pending is written anew: the file does not grow from run to run.
        draft = f"{path}.draft"
        with open(draft, "wb") as file:
            for record in pending.items():
                file.write(self._packed(record))
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, path)
        self.file = os.open(path, os.O_WRONLY | os.O_APPEND)

    def add(self, requests, spider):
        records = b""
        for request in requests:
            before = request.meta.get(NUMBER)  # of the request that was redirected here
            try:
                saved = request.to_dict(spider=spider)
            except ValueError as error:  # its callback is no method of the spider
                logger.warning("urlsieve: %s cannot be written down: %s", request, error)
                continue
            self.last += 1
            request.meta[NUMBER] = saved["meta"][NUMBER] = self.last
            records += self._packed((self.last, saved))
            if before is not None:
                records += self._packed((before, None))
        if records:
            os.write(self.file, records)

    def done(self, request):
        number = request.meta.get(NUMBER)
        if number is not None:
            os.write(self.file, self._packed((number, None)))

    def left(self, spider):
        """What was pending when the file was opened."""
        restored, self.restored = self.restored, []
        for saved in restored:
            yield request_from_dict(saved, spider=spider)

    def close(self, is_empty=False):
        if is_empty:
            os.ftruncate(self.file, 0)
        os.close(self.file)

    def _packed(self, record):
        body = pickle.dumps(record)
        return self.HEAD.pack(len(body), zlib.crc32(body)) + body

    def _records(self):
        if not os.path.exists(self.path):
            return
        with open(self.path, "rb") as file:
            while len(head := file.read(self.HEAD.size)) == self.HEAD.size:
                length, check = self.HEAD.unpack(head)
                body = file.read(length)
                if len(body) < length or zlib.crc32(body) != check:
                    return
                yield pickle.loads(body)
