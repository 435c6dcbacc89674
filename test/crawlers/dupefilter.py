"""The dupe filter and its journal by hand: dupefilter.py URL FOLDER; prints what it saw as one JSON object."""

import hashlib
import json
import logging
import os
import shutil
import sys

import redis
import scrapy
from scrapy.utils.request import fingerprint
from scrapy.utils.test import get_crawler
from urlsieve_dupefilter import Journal, RecentDigests, UrlsieveDupeFilter

url, folder = sys.argv[1:]
logging.disable(logging.CRITICAL)


class Pages(scrapy.Spider):
    name = "pages"

    def parse(self, response):
        pass


def opened(**settings):
    crawler = get_crawler(
        Pages, {"URLSIEVE_URL": url, "REQUEST_FINGERPRINTER_IMPLEMENTATION": "2.7", **settings}
    )
    crawler.spider = crawler._create_spider("pages")
    dupefilter = UrlsieveDupeFilter.from_crawler(crawler)
    dupefilter.open()
    return dupefilter


page = "http://example.com/form"
requests = [
    scrapy.Request(page),
    scrapy.Request(f"{page}#top"),
    scrapy.Request(page, method="POST", body=b"a=1"),
    scrapy.Request(page, method="POST", body=b"a=2"),
    scrapy.Request(page, method="POST", body=b"a=1"),
    scrapy.Request(page, method="HEAD"),
    scrapy.Request("http://example.com/?b=2&a=1"),
    scrapy.Request("http://example.com/?a=1&b=2"),
]
one_by_one = opened(URLSIEVE_NAME="one")
singles = [one_by_one.request_seen(request) for request in requests]
together = opened(URLSIEVE_NAME="all")
together.query(requests)
batched = [together.request_seen(request) for request in requests]
by_fingerprint = opened(URLSIEVE_NAME="print", URLSIEVE_KEYS="fingerprint")
fingerprints = [by_fingerprint.request_seen(request) for request in requests]


class WithHeaders:
    def fingerprint(self, request):
        return fingerprint(request, include_headers=["X-ID"])


headers = [scrapy.Request(page, headers={"X-ID": name}) for name in ["1", "2", "3", "1"]]
own_class = {"REQUEST_FINGERPRINTER_CLASS": WithHeaders}
lines = []
logger = logging.getLogger("urlsieve_dupefilter.dupefilter")
logger.info = lambda message, *values: lines.append(message % values)
own = {
    keys: [dupefilter.request_seen(request) for request in headers]
    for keys, dupefilter in {
        "": opened(URLSIEVE_NAME="own", **own_class),
        "url": opened(URLSIEVE_NAME="own-url", URLSIEVE_KEYS="url", **own_class),
    }.items()
}
nobody = opened(URLSIEVE_NAME="one", URLSIEVE_URL="redis://127.0.0.1:9")
without = [nobody.request_seen(request) for request in requests]
errors = nobody.stats.get_value("urlsieve/errors")

# What the server answered is still known when it has gone.
gone = opened(URLSIEVE_NAME="one")
gone.query(requests)
gone.client = nobody.client
another = scrapy.Request("http://example.com/another")
outage = [gone.request_seen(request.copy()) for request in [*requests, another, another]]

# The answer to an add is lost, after another spider has marked some of the requests.
def after_loss(name, lose):
    opened(URLSIEVE_NAME=name).query(requests[2:5])
    filter_ = opened(URLSIEVE_NAME=name)
    execute = filter_.client.execute_command
    losses = []

    def losing(*command):
        answer = execute(*command)
        if "SIEVE.ADD" in command and not losses:
            losses.append(command)
            lose(filter_)
            raise redis.ConnectionError("the answer was lost")
        return answer

    filter_.client.execute_command = losing
    filter_.query(requests)
    verdicts = [filter_.request_seen(request) for request in requests]
    return [verdicts, filter_.stats.get_value("urlsieve/without_server"), len(losses)]


def forget(filter_):
    filter_.caller = "0" * 40  # as after a restart


lost = after_loss("lost", lambda filter_: None)
restarted = after_loss("restarted", forget)

# A table of fixed size forgets, but takes nothing for known that it was not given.
answers = RecentDigests(4000)
digests = [hashlib.sha1(str(i).encode()).digest() for i in range(20_000)]
for digest in digests[:10_000]:
    answers.add(digest)
known = [digest in answers for digest in digests]
kept = [sum(known[:10_000]), known[9_999] and not any(known[10_000:])]

# Cut at any byte, the journal holds a beginning of what was written.
path = os.path.join(folder, "journal")
spider = one_by_one.crawler.spider
journal = Journal(path)
written = [scrapy.Request(f"http://example.com/{i}", callback=spider.parse) for i in range(4)]
journal.add(written[:2], spider)
journal.add(written[2:], spider)
journal.done(written[0])
journal.close()
left = []
for size in range(os.path.getsize(path) + 1):
    cut = os.path.join(folder, "cut")
    shutil.copy(path, cut)
    os.truncate(cut, size)
    again = Journal(cut)
    left.append([request.url[-1] for request in again.pending(spider)])
    again.close()
found = [one for i, one in enumerate(left) if i == 0 or one != left[i - 1]]
print(
    json.dumps(
        {
            "singles": singles,
            "batched": batched,
            "fingerprints": fingerprints,
            "own": own,
            "lines": lines[:2],
            "without": without,
            "errors": errors,
            "outage": outage,
            "lost": lost,
            "restarted": restarted,
            "kept": kept,
            "left": found,
        }
    )
)
