"""The duplicate filter: verdicts from the server, or from memory while the server is away."""

import hashlib
import logging
import time
from weakref import WeakKeyDictionary

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry
from scrapy import signals
from scrapy.dupefilters import BaseDupeFilter
from scrapy.utils.request import RequestFingerprinter, referer_str

from .journal import NUMBER, Journal
from .recent import RecentDigests

logger = logging.getLogger(__name__)

#: Requests per command.
BATCH = 500
#: The server is away. Once the spider runs, other errors (no memory, no such sieve) are handled the same way.
AWAY = (redis.ConnectionError, redis.TimeoutError)
#: The reason for closing a spider that cannot use its sieve.
REASON = "urlsieve_away"
#: Default of URLSIEVE_MEMORY: digests kept, 8 bytes each.
RECENT = 2**20
#: Longer keys are compared unchanged: Scrapy's canonicalisation takes microseconds per character.
MAX_CANONICAL = 4096


class UrlsieveDupeFilter(BaseDupeFilter):
    """Drops a request whose URL the sieve has seen. Errs towards "new" when the server does not answer."""

    def __init__(self, crawler):
        settings = crawler.settings
        crawler.urlsieve = self
        self.crawler = crawler
        self.name = settings.get("URLSIEVE_NAME", "scrapy")
        self.create = settings.getlist("URLSIEVE_CREATE", ["PROFILE", "scrapy"])
        #: None: the URL, unless the spider has a fingerprinter of its own. That is known when the spider is opened.
        self.keys = settings.get("URLSIEVE_KEYS")
        if self.keys not in (None, "url", "fingerprint"):
            raise ValueError(f"URLSIEVE_KEYS {self.keys!r}: expected 'url' or 'fingerprint'")
        self.by_fingerprint = self.keys == "fingerprint"
        self.on_error = settings.get("URLSIEVE_ON_ERROR", "new")
        if self.on_error not in ("new", "close"):
            raise ValueError(f"URLSIEVE_ON_ERROR {self.on_error!r}: expected 'new' or 'close'")
        self.retry_seconds = settings.getfloat("URLSIEVE_RETRY_SECONDS", 5)
        # The client must not retry: an ADD that is repeated without its number would report a new page as seen.
        self.client = redis.Redis.from_url(
            settings.get("URLSIEVE_URL", "redis://127.0.0.1:6390"),
            password=settings.get("URLSIEVE_PASSWORD"),
            socket_timeout=settings.getfloat("URLSIEVE_TIMEOUT", 5),
            retry=Retry(NoBackoff(), 0),
        )
        #: The name of this client's numbered calls; None: not known yet; "": the server has none.
        self.caller = None
        self.number = 0
        journal = settings.get("URLSIEVE_JOURNAL")
        self.journal = Journal(journal) if journal else None
        self.has_jobdir = bool(settings.get("JOBDIR"))
        #: Verdicts of requests that were queried in a batch.
        self.verdicts = WeakKeyDictionary()
        #: Digests of requests that the server has marked as seen.
        self.marked = RecentDigests(settings.getint("URLSIEVE_MEMORY", RECENT))
        #: During an outage: digests of the requests met, and the keys to mark when the server is back.
        self.met = set()
        self.unmarked = []
        self.away_until = 0.0
        #: Key by number of the requests restored from the journal. Each is new once.
        self.restored = {}
        #: The fingerprint distinguishes the same requests as the sieve's profile.
        self.is_scrapy = False
        self.is_ending = False
        self.debug = settings.getbool("DUPEFILTER_DEBUG")
        self.logs_repeats = True

    @classmethod
    def from_crawler(cls, crawler):
        return cls(crawler)

    @property
    def stats(self):
        # Scrapy 2.18 sets it, like `request_fingerprinter`, only when the crawl starts.
        return self.crawler.stats

    def open(self):
        """Creates the sieve unless it exists. When the server is away, retries later or closes the spider."""
        self._choose_keys()
        if self.has_jobdir and not self.journal:
            logger.warning(
                "urlsieve: JOBDIR without URLSIEVE_JOURNAL: pending requests are lost when the spider is killed; "
                "set URLSIEVE_JOURNAL to a file"
            )
        try:
            self._create()
        except redis.AuthenticationError as error:
            self._end(error)
        except AWAY as error:
            self._away(error)
        except redis.RedisError as error:
            self._end(error)

    # A fingerprinter of the spider's own defines which requests are the same, as it does for Scrapy's filter.
    def _choose_keys(self):
        kind = type(self.crawler.request_fingerprinter)
        is_own = kind is not RequestFingerprinter
        self.is_scrapy = self.create == ["PROFILE", "scrapy"] and not is_own
        if self.keys is None:
            self.by_fingerprint = is_own
        keys = f"fingerprints of {kind.__module__}.{kind.__qualname__}" if self.by_fingerprint else "URLs"
        logger.info("urlsieve: the keys of requests are %s", keys)

    def close(self, reason):
        try:
            # Requests met before the spider was closed were not fetched: they stay unmarked.
            if not self.is_ending:
                self._mark_unmarked()
        except redis.RedisError:
            logger.warning("urlsieve: %d requests were not marked: the server is away", len(self.unmarked))
        self.client.close()
        if self.journal:
            self.journal.close(is_empty=self._is_in_jobdir())

    def restore(self, request):
        """Lets a request of the journal pass, whatever the sieve's verdict."""
        key = self.key_of(request)
        self.restored[request.meta[NUMBER]] = key
        # The spider may have been killed between the journal and the mark.
        self.unmarked.append(key)

    def request_seen(self, request):
        # A redirect has the number of the original request, but another key.
        number = request.meta.get(NUMBER)
        if number in self.restored and self.restored[number] == self.key_of(request):
            del self.restored[number]
            return False
        verdict = self.verdicts.pop(request, None)
        if verdict is None:
            self.query([request])
            verdict = self.verdicts.pop(request)
        if verdict:
            self._report(request)
            if self.journal:
                self.journal.done(request)
        return verdict

    def query(self, requests):
        """Queries and marks a batch of requests; `request_seen` returns the verdicts."""
        keys = [self.key_of(request) for request in requests]
        self.stats.inc_value("urlsieve/asked", len(keys))
        self.stats.inc_value("urlsieve/batches")
        fresh = self._add(requests, keys)
        for request, is_new in zip(requests, fresh):
            self.verdicts[request] = not is_new
        self.stats.inc_value("urlsieve/new", sum(fresh))
        self.stats.inc_value("urlsieve/seen", len(fresh) - sum(fresh))

    def key_of(self, request):
        """The URL, which the sieve's profile canonicalises. For a request with another method or a body: Scrapy's
        fingerprint, which covers both; it is not a URL, so the sieve uses it unchanged."""
        if request.method == "GET" and not request.body and not self.by_fingerprint:
            return request.url
        fingerprint = self.crawler.request_fingerprinter.fingerprint(request).hex()
        return f"({request.method}) {fingerprint}"

    # Scrapy's method `log` does the same before 2.18, which deprecates it.
    def _report(self, request):
        if self.debug:
            logger.debug("Filtered duplicate request: %s (referer: %s)", request, referer_str(request))
        elif self.logs_repeats:
            self.logs_repeats = False
            logger.debug("Filtered duplicate request: %s - no more will be shown", request)
        self.stats.inc_value("dupefilter/filtered")

    # For each key whether it is new. With a journal a request is written to it before the sieve marks it, so that none
    # is lost between the two.
    def _add(self, requests, keys):
        if self._is_away():
            return self._add_locally(requests, keys)
        try:
            self._mark_unmarked()
            if self.journal:
                seen = self.client.execute_command("SIEVE.HAS", self.name, *keys)
                self._remember((one, key) for one, key, was in zip(requests, keys, seen) if was)
                self.journal.add([one for one, was in zip(requests, seen) if not was], self.crawler.spider)
            verdicts = self._call("SIEVE.ADD", self.name, *keys)
        except redis.RedisError as error:
            self._away(error)
            return self._add_locally(requests, keys)
        self.away_until = 0.0
        self._remember(zip(requests, keys))
        return [bool(verdict) for verdict in verdicts]

    # Sends a command with a number. If its answer is lost, sends it once more: the server has kept the answer, unless it
    # was restarted.
    def _call(self, *command):
        self.number += 1
        lost = None
        while True:
            if self.caller is None:
                self.caller = self._new_caller()
            if not self.caller:
                if lost:
                    raise lost
                return self.client.execute_command(*command)
            try:
                return self.client.execute_command("SIEVE.CALL", self.caller, self.number, *command)
            except AWAY as error:
                if lost:
                    raise
                lost = error
            except redis.ResponseError as error:
                if not str(error).startswith("NOCALLER"):
                    raise
                self.caller = None
                if lost:
                    raise lost from None

    def _new_caller(self):
        try:
            return self.client.execute_command("SIEVE.CALLER")
        except redis.ResponseError as error:
            if not str(error).startswith("unknown command"):
                raise
            return ""

    # Verdicts during an outage: from earlier answers of the server and the requests met since.
    def _add_locally(self, requests, keys):
        self.stats.inc_value("urlsieve/without_server", len(keys))
        fresh = []
        for request, key in zip(requests, keys):
            digest = self._digest(request, key)
            is_new = digest not in self.met and digest not in self.marked
            fresh.append(is_new)
            if is_new:
                self.met.add(digest)
                self.unmarked.append(key)
                if self.journal and NUMBER not in request.meta:
                    self.journal.add([request], self.crawler.spider)
        return fresh

    def _remember(self, pairs):
        for request, key in pairs:
            self.marked.add(self._digest(request, key))

    # 20 bytes. Equal digests mean that the sieve treats the requests as the same; the reverse need not hold.
    def _digest(self, request, key):
        if (self.is_scrapy or self.by_fingerprint) and len(key) <= MAX_CANONICAL:
            return self.crawler.request_fingerprinter.fingerprint(request)
        return hashlib.blake2b(key.encode("utf-8", "surrogatepass"), digest_size=20).digest()

    def _create(self):
        try:
            self.client.execute_command("SIEVE.CREATE", self.name, *self.create)
        except redis.ResponseError as error:
            try:
                self.client.execute_command("SIEVE.STATS", self.name)
            except redis.ResponseError:
                raise error from None

    # Marks the requests met during an outage.
    def _mark_unmarked(self):
        if self.unmarked:
            self._create()
        while self.unmarked:
            self.client.execute_command("SIEVE.ADD", self.name, *self.unmarked[:BATCH])
            del self.unmarked[:BATCH]
        for digest in self.met:
            self.marked.add(digest)
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

    # Whether Scrapy's scheduler, which closes its filter last, has just written all pending requests to JOBDIR.
    def _is_in_jobdir(self):
        engine = self.crawler.engine
        slot = getattr(engine, "slot", None) or getattr(engine, "_slot", None)
        return self.has_jobdir and getattr(getattr(slot, "scheduler", None), "dqs", None) is not None

    # Closes the spider once, and makes `scrapy crawl` and `scrapy runspider` exit with 1.
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

    # An engine can close its spider only one turn of the event loop after the signal engine_started.
    def _close_started(self):
        from twisted.internet import reactor

        reactor.callLater(0, self._close_spider)

    def _close_spider(self):
        self.crawler.engine.close_spider(self.crawler.spider, REASON)

    # Scrapy's commands exit with 1 when a crawler ends without a spider.
    def _fail(self):
        self.crawler.spider = None
