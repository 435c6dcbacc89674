"""The spider middleware: queries the sieve for all requests of a page in batches, and finishes requests in the journal.
After a kill, the requests that were pending come first."""

from scrapy import Request

from .dupefilter import BATCH


class UrlsieveMiddleware:
    """Place it nearest to the engine, so that other middlewares drop requests before it queries the sieve."""

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
        yield from self._restore(spider)
        yield from start_requests

    async def process_start(self, start):  # Scrapy 2.13 and later
        for request in self._restore(self.crawler.spider):
            yield request
        async for item in start:
            yield item

    def process_spider_output(self, response, result, spider=None):
        waiting = []
        for item in result:
            if not self._is_filtered(item):
                yield item
                continue
            waiting.append(item)
            if len(waiting) >= BATCH:
                yield from self._query(waiting)
                waiting = []
        yield from self._query(waiting)
        self._done(response)

    async def process_spider_output_async(self, response, result, spider=None):
        waiting = []
        async for item in result:
            if self._is_filtered(item):
                waiting.append(item)
            else:
                yield item
        for request in self._query(waiting):
            yield request
        self._done(response)

    @staticmethod
    def _is_filtered(item):
        return isinstance(item, Request) and not item.dont_filter

    def _query(self, requests):
        for start in range(0, len(requests), BATCH):
            self.filter.query(requests[start : start + BATCH])
        return requests

    def _restore(self, spider):
        journal = self.filter.journal
        for request in journal.pending(spider) if journal else []:
            self.filter.restore(request)
            yield request

    def _done(self, response):
        if self.filter.journal:
            self.filter.journal.done(response.request)
