"""An S3 server that only lists and reads objects, and counts requests and bytes."""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import parse_qs, unquote, urlsplit

_PAGE = 1000
_LISTING = (
    '<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><IsTruncated>{more}'
    "</IsTruncated>{token}<KeyCount>{count}</KeyCount>{contents}</ListBucketResult>"
)
_CONTENT = (
    "<Contents><Key>{key}</Key><Size>{size}</Size>"
    "<LastModified>2026-01-01T00:00:00.000Z</LastModified></Contents>"
)


@dataclass
class CountingStore:
    """Objects by their keys in a bucket, and the requests that were made."""

    objects: Mapping[str, bytes]
    url: str = ""
    page: int = _PAGE
    before_page: Callable[[int], None] = lambda _: None
    """Is called with the number of keys before a page of the listing."""
    requests: list[str] = field(default_factory=list)
    fetched: Counter[str] = field(default_factory=Counter)
    """Bytes of objects that were sent, by key."""

    def listing(self, prefix: str, token: str) -> str:
        """Return a page of the keys with a prefix."""
        keys = [key for key in sorted(self.objects) if key.startswith(prefix)]
        start = bisect_right(keys, token) if token else 0
        self.before_page(start)
        page = keys[start : start + self.page]
        more = start + self.page < len(keys)
        return _LISTING.format(
            more=str(more).lower(),
            token=f"<NextContinuationToken>{page[-1]}</NextContinuationToken>" if more else "",
            count=len(page),
            contents="".join(_CONTENT.format(key=key, size=len(self.objects[key])) for key in page),
        )


@contextmanager
def counting_store(
    objects: Mapping[str, bytes],
    page: int = _PAGE,
    before_page: Callable[[int], None] = lambda _: None,
) -> Iterator[CountingStore]:
    """Serve objects, by their keys, of any bucket on loopback."""
    store = CountingStore(objects, page=page, before_page=before_page)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # or a client's delayed ACK costs 40 ms a request

        def do_GET(self) -> None:
            key, query = self._asked()
            if "list-type" in query:
                token = query.get("continuation-token", [""])[0]
                page = store.listing(query.get("prefix", [""])[0], token)
                self._answer(200, page.encode(), "application/xml")
            elif key not in objects:
                self._answer(404, b"")
            else:
                limits = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
                start, end = map(int, limits.groups()) if limits else (0, len(objects[key]) - 1)
                content = objects[key][start : end + 1]
                store.fetched[key] += len(content)
                self._answer(206 if limits else 200, content)

        def do_HEAD(self) -> None:
            key, _ = self._asked()
            self._answer(200 if key in objects else 404, objects.get(key, b""))

        def _asked(self) -> tuple[str, dict[str, list[str]]]:
            store.requests.append(f"{self.command} {self.path}")
            split = urlsplit(self.path)
            return unquote(split.path).partition("/")[2].partition("/")[2], parse_qs(split.query)

        def _answer(self, code: int, body: bytes, kind: str = "application/octet-stream") -> None:
            self.send_response(code)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Last-Modified", "Thu, 01 Jan 2026 00:00:00 GMT")
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name
            """Print nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    store.url = f"http://127.0.0.1:{server.server_port}"
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield store
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
