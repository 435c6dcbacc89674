"""The journal: requests still to be fetched, in one append-only file. It survives `kill -9`; Scrapy's JOBDIR does not."""

import logging
import os
import pickle
import struct
import zlib

from scrapy.utils.request import request_from_dict

logger = logging.getLogger(__name__)

#: The key in `request.meta` of a request's number in the journal.
NUMBER = "urlsieve_number"


class Journal:
    """A record counts when it is complete: u32 length, u32 CRC-32, then a pickle of (number, request or None)."""

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
        # Only pending requests are rewritten: the file does not grow from run to run.
        draft = f"{path}.draft"
        with open(draft, "wb") as file:
            for record in pending.items():
                file.write(self._pack(record))
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, path)
        self.file = os.open(path, os.O_WRONLY | os.O_APPEND)

    def add(self, requests, spider):
        """Writes requests, and finishes those that were redirected to them."""
        records = b""
        for request in requests:
            before = request.meta.get(NUMBER)  # the number of the request that was redirected here
            try:
                saved = request.to_dict(spider=spider)
            except ValueError as error:  # its callback is not a method of the spider
                logger.warning("urlsieve: %s cannot be written to the journal: %s", request, error)
                continue
            self.last += 1
            request.meta[NUMBER] = saved["meta"][NUMBER] = self.last
            records += self._pack((self.last, saved))
            if before is not None:
                records += self._pack((before, None))
        if records:
            os.write(self.file, records)

    def done(self, request):
        """Finishes a request."""
        number = request.meta.get(NUMBER)
        if number is not None:
            os.write(self.file, self._pack((number, None)))

    def pending(self, spider):
        """The requests that were pending when the file was opened."""
        restored, self.restored = self.restored, []
        for saved in restored:
            yield request_from_dict(saved, spider=spider)

    def close(self, is_empty=False):
        if is_empty:
            os.ftruncate(self.file, 0)
        os.close(self.file)

    def _pack(self, record):
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
