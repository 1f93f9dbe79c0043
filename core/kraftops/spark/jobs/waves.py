"""Waves of sources: jobs read those that are known while a listing goes on."""

from collections.abc import Iterable, Iterator
from functools import partial
from typing import TypeVar

from kraftops.dump.sources.names import Source, SourcePage
from kraftops.parallel.background import BackgroundCall

T = TypeVar("T")
_FIRST_PAGES = 10  # of 1,000 keys each, the most that S3 lists at once


def waves(pages: Iterable[SourcePage]) -> Iterator[SourcePage]:
    """Yield the sources of some pages together: of ten first, and then of twice as many each time.

    So jobs are few however long the listing is, and what they read does not depend on its speed.
    """
    sources: list[Source] = []
    most, count = _FIRST_PAGES, 0
    for page in pages:
        sources += page.sources
        count += 1
        if page.is_last or (count >= most and sources):
            yield SourcePage(sources, is_last=page.is_last)
            sources, most, count = [], 2 * most, 0


def begun_ahead(items: Iterator[T]) -> Iterator[T]:
    """Prefetch: a thread asks for the first item now, and for the next one with each."""
    ask = partial(next, items, None)
    call = BackgroundCall(ask)

    def results() -> Iterator[T]:
        nonlocal call
        while (item := call.result()) is not None:
            call = BackgroundCall(ask)
            yield item

    return results()
