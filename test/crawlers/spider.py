"""A spider in a process of its own: crawls a site with Scrapy's own duplicate filter, or through `urlsieve serve`.

spider.py ORIGIN own|sieve [NAME=VALUE of a setting ...]; prints the URLs it handled and its stats as one JSON object.
"""

import json
import logging
import resource
import sys
import time

import scrapy
from scrapy.crawler import CrawlerProcess

origin, kind, *settings = sys.argv[1:]
handled = []


class Pages(scrapy.Spider):
    name = "pages"

    def start_requests(self):
        yield scrapy.Request(f"{origin}/", dont_filter=False)

    def parse(self, response):
        handled.append(response.url)
        if not isinstance(response, scrapy.http.HtmlResponse):
            return
        for link in response.css("a::attr(href)").getall():
            url = response.urljoin(link.strip())
            if url.lower().startswith(f"{origin}/"):
                yield scrapy.Request(url)


logging.getLogger("scrapy").setLevel(logging.CRITICAL)
process = CrawlerProcess(
    {
        "LOG_LEVEL": "WARNING",
        "CONCURRENT_REQUESTS": 8,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 8,
        "RETRY_ENABLED": False,
        "HTTPERROR_ALLOW_ALL": True,
        "REQUEST_FINGERPRINTER_IMPLEMENTATION": "2.7",
        "TELNETCONSOLE_ENABLED": False,
        **(
            {
                "DUPEFILTER_CLASS": "urlsieve_dupefilter.UrlsieveDupeFilter",
                "SPIDER_MIDDLEWARES": {"urlsieve_dupefilter.UrlsieveMiddleware": 10},
            }
            if kind == "sieve"
            else {}
        ),
        **dict(setting.split("=", 1) for setting in settings),
    }
)
crawler = process.create_crawler(Pages)
started = time.monotonic()
process.crawl(crawler)
process.start()
stats = {name: value for name, value in crawler.stats.get_stats().items() if isinstance(value, (int, float, str))}
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps({"handled": handled, "stats": stats, "seconds": time.monotonic() - started, "peakMB": peak}))
