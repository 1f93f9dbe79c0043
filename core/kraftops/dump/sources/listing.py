"""Listings of object stores page by page, for those who begin before they are complete."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from kraftops.errors import SourceError
from kraftops.log.remote import CONNECT_SECONDS, Entry, list_directory, s3_endpoint

if TYPE_CHECKING:
    from botocore.client import BaseClient

_S3 = "s3"


class EntryPage(NamedTuple):
    """Some of the entries below a directory; those of all pages are in the order of their names.

    The only page of what is not a directory has None.
    """

    entries: list[Entry] | None
    is_last: bool


EntryPages = Callable[[str], Iterator[EntryPage]]
"""Yields the entries below a directory."""


def whole_listing(uri: str) -> Iterator[EntryPage]:
    """Yield the entries below a directory, all at once.

    Raises:
        SourceError: it cannot be listed.
    """
    yield EntryPage(list_directory(uri, recursive=True), is_last=True)


def listing_pages(uri: str) -> Iterator[EntryPage]:
    """Yield the entries below a directory, a thousand at a time if botocore can ask for them.

    pyarrow waits for the last of them.

    Raises:
        SourceError: it cannot be listed.
    """
    if uri.partition("://")[0].lower() != _S3:
        yield from whole_listing(uri)
        return
    try:
        from botocore.exceptions import BotoCoreError, ClientError
    except ImportError:
        yield from whole_listing(uri)
        return
    has_begun = False
    try:
        for page in _s3_pages(uri):
            if not (has_begun or page.entries):
                break
            has_begun = True
            yield page
    except (BotoCoreError, ClientError) as error:
        if has_begun:
            raise SourceError(f"cannot read {uri}: {error}") from None
    if not has_begun:  # pyarrow tells an empty directory from none, and has one way to say why not
        yield from whole_listing(uri)


def _s3_pages(uri: str) -> Iterator[EntryPage]:
    bucket, _, path = uri.partition("://")[2].partition("/")
    prefix = f"{path.rstrip('/')}/".lstrip("/")
    pages: Any = _client().get_paginator("list_objects_v2")
    for page in pages.paginate(Bucket=bucket, Prefix=prefix):
        entries = [
            Entry(f"s3://{bucket}/{stored['Key']}".rstrip("/"), _size(stored))
            for stored in page.get("Contents", ())
            if stored["Key"] != prefix
        ]
        yield EntryPage(entries, is_last=not page["IsTruncated"])


def _size(stored: dict[str, Any]) -> int | None:
    """Return the bytes of an object; None of one that stands for a directory."""
    return None if stored["Key"].endswith("/") else int(stored["Size"])


def _client() -> BaseClient:
    from botocore.config import Config
    from botocore.session import Session

    # As pyarrow's: a store with an address of its own has no names for its buckets.
    style = {"addressing_style": "path"} if s3_endpoint() else {}
    return Session().create_client(_S3, config=Config(connect_timeout=CONNECT_SECONDS, s3=style))
