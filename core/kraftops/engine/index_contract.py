"""The index of a batch of metadata records: their types, and the partitions that they change."""

from typing import NamedTuple

RANGE_BITS = 13
"""Partitions of a topic are of one range if their numbers differ in these lowest bits only:
8,192 of them, so that most topics are one range."""


class RecordGroup(NamedTuple):
    """Similar records of a batch that follow one another, from byte *start* to byte *end*.

    There are *total* of them; *number* is the place of the first in the batch. A group of several
    has one type and version, and changes partitions of one topic and one range, or none. *type* is
    None for a record that cannot be read, or that has a key or headers. *topic_id* and
    *partition*, of the first record, are there for partitions and their changes alone.
    """

    number: int
    total: int
    start: int
    end: int
    type: int | None
    version: int | None
    topic_id: bytes | None
    partition: int | None
