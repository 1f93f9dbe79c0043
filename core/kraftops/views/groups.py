"""The view of groups, by the logs of `__consumer_offsets` beside a metadata log."""

import os
from collections.abc import Iterable, Iterator, Sequence

from kraftops.answers.fields import number, text, time
from kraftops.display.order import natural_key
from kraftops.dump.sources.names import expand
from kraftops.dump.summary.groups import Group, Groups
from kraftops.dump.summary.summarise import summarise
from kraftops.errors import SourceError
from kraftops.fileio.mounts import is_directory, names_in
from kraftops.image.state.image import MetadataImage
from kraftops.log.files import METADATA_PARTITION, PARTITION_NAME
from kraftops.memory import Budget
from kraftops.query.query import Query
from kraftops.uris import is_remote
from kraftops.views.view import Frame, View, frame_of_rows

OFFSETS_TOPIC = "__consumer_offsets"

COLUMNS = (
    text("group", "id of the group"),
    text("kind", "consumer, classic, share, streams, or simple without members"),
    text("state", "as of its newest records"),
    number("members", "members", numeral="amount"),
    number("epoch", "epoch, or generation of a classic group"),
    number("topics", "topics with committed offsets", numeral="amount"),
    number("partitions", "partitions with committed offsets", numeral="amount"),
    time("lastCommit", "time of the newest commit"),
    text("protocolType", "of a classic group", is_usual=False),
)


def offsets_directories(sources: Iterable[str]) -> list[str]:
    """Return the directories of partitions of `__consumer_offsets` beside a metadata log.

    Args:
        sources: log directories, or directories of the metadata log in them.
    """
    directories: dict[str, None] = {}
    for source in sources:
        if is_remote(source) or not is_directory(source):
            continue
        place = os.path.normpath(source)
        is_inside = os.path.basename(place) == METADATA_PARTITION
        log_directory = os.path.dirname(place) or os.curdir if is_inside else place
        directories.update(dict.fromkeys(_partitions(log_directory)))
    return list(directories)


def groups_frame(directories: Iterable[str], budget: Budget) -> Frame:
    """Return the groups in logs of `__consumer_offsets`, as of their ends.

    Raises:
        SourceError: one cannot be read.
    """
    groups = Groups()
    query = Query(decoder="offsets", deep_iteration=True, budget=budget)
    for source in expand(directories):
        summary = summarise(source.path, query)
        if isinstance(summary.details, Groups):
            groups.merge(summary.details)
    rows = [_row(group) for group in groups.rows()]
    return frame_of_rows(COLUMNS, sorted(rows, key=lambda row: natural_key(str(row[0]))))


def _partitions(directory: str) -> Iterator[str]:
    try:
        names = sorted(names_in(directory), key=natural_key)
    except OSError as error:
        raise SourceError.of(directory, error) from None
    for name in names:
        named = PARTITION_NAME.fullmatch(name)
        if named and named[1] == OFFSETS_TOPIC and not named[3]:
            yield os.path.join(directory, name)


def _row(group: Group) -> Sequence[object]:
    return (
        *(group.group, group.kind, group.state, group.members, group.epoch),
        len({offset.topic for offset in group.offsets}),
        len(group.offsets),
        max((offset.committed for offset in group.offsets), default=None),
        group.protocol_type,
    )


def _without_logs(_image: MetadataImage, _secrets: bool) -> Frame:  # noqa: FBT001 - see View
    return frame_of_rows(COLUMNS, [])


GROUPS = View("groups", COLUMNS, _without_logs)
"""Its rows are made by `groups_frame`; an image has none."""
