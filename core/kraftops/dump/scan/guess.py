"""What a log without the name of its directory looks like: its first keys tell that of offsets."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from kraftops.dump.report import Report
from kraftops.dump.scan.part_rows import part_rows
from kraftops.dump.sources.names import Source
from kraftops.errors import KraftopsError
from kraftops.log.ranges import ByteRange
from kraftops.query.query import Query

_RECORDS = 5
"""Keys of users hardly begin with a version, a length and a name of that length; five never do."""


def looks_like_offsets(sources: Sequence[Source]) -> bool:
    """Tell whether the first records of the first source have keys of `__consumer_offsets`.

    Of a source in a directory that tells the topic nothing is read.
    """
    first = sources[0]
    if first.topic is not None or not first.path.endswith(".log"):
        return False
    try:
        rows = part_rows(ByteRange(first.path), Query(decoder="offsets"), Report())
        keys = [row.key for row in islice(rows, _RECORDS) if row.type and not row.error]
        return len(keys) > 0 and all(key and key.startswith('{"group":"') for key in keys)
    except (KraftopsError, OSError):
        return False  # the dump tells why
