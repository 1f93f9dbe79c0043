"""Positions in the log: how far an image goes, and where a state was last changed."""

from typing import NamedTuple


class Provenance(NamedTuple):
    """The last batch in an image; *timestamp*, in ms, is its newest. All fields are -1 when empty.

    *counted* is the offset by Kafka's count, without the batch's records that Kafka cannot read.
    """

    offset: int = -1
    epoch: int = -1
    timestamp: int = -1
    counted: int = -1


class Change(NamedTuple):
    """The position in the log of a state's last change; *timestamp* is in ms.

    Where *is_upper_bound*, only a snapshot has the state: the change came at *offset* or before,
    which is the last offset that the snapshot covers, or the last before the log that still exists.
    """

    offset: int
    timestamp: int
    epoch: int
    is_upper_bound: bool
