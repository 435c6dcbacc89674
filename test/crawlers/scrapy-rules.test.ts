// Scrapy 2.18's rules, which 2.8 does not check: stats and the fingerprinter are not used before the crawl starts, and the
// filter has no `log`, which is deprecated. And the metadata for publishing the package.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { noScrapy, PYTHON } from './python.ts'

const folder = fileURLToPath(new URL('../../integrations/scrapy/', import.meta.url))

const SCRIPT = `
import json, logging, sys
sys.path.insert(0, sys.argv[1])
from scrapy import Request
from scrapy.settings import Settings
from scrapy.statscollectors import MemoryStatsCollector
from scrapy.utils.request import RequestFingerprinter
from urlsieve_dupefilter import UrlsieveDupeFilter, UrlsieveMiddleware

logging.disable(logging.CRITICAL)

class Crawler:
    engine = spider = None
    settings = Settings({"URLSIEVE_URL": "redis://127.0.0.1:1", "STATS_DUMP": False})
    is_started = False

    def started(self, value):
        if not self.is_started:
            raise RuntimeError("used before the crawl starts")
        return value

    @property
    def stats(self):
        return self.started(self.collector)

    @property
    def request_fingerprinter(self):
        return self.started(RequestFingerprinter())

crawler = Crawler()
found = UrlsieveDupeFilter.from_crawler(crawler)
UrlsieveMiddleware.from_crawler(crawler)
crawler.collector = MemoryStatsCollector(crawler)
crawler.is_started = True
found.open()
request = Request("https://example.com/")
verdicts = [bool(found.request_seen(one)) for one in (request, request.copy(), request.replace(method="POST"))]
print(json.dumps([verdicts, crawler.collector.get_value("dupefilter/filtered"), "log" in vars(UrlsieveDupeFilter)]))
`

it.skipIf(noScrapy)(`nothing is used before the crawl starts, and repeats are counted ${noScrapy}`, () => {
  const text = execFileSync(PYTHON, ['-W', 'ignore', '-c', SCRIPT, folder], { encoding: 'utf8' })
  expect(JSON.parse(text)).toEqual([[false, true, false], 1, false])
})

it('pyproject.toml has the version of package.json', () => {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    version: string
  }
  expect(readFileSync(`${folder}pyproject.toml`, 'utf8')).toContain(`\nversion = "${version}"\n`)
})
