"""A spider for `scrapy runspider`: fetches START and follows nothing."""

import scrapy


class OnePage(scrapy.Spider):
    name = "one"

    def start_requests(self):
        yield scrapy.Request(self.settings["START"], dont_filter=False)

    def parse(self, response):
        pass
