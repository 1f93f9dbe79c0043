"""Marks: keys of brokers' dynamic configurations that say which operations of ours are under way.

A broker never tells the value of a key that Kafka does not know: it takes it for a secret
(`KafkaConfig.maybeSensitive`). So the key itself has all there is to know, and people who read
configurations by Kafka's own tools see who does what, since when. The mark of an operation is in
the default configuration of all brokers, which any broker can change, whichever are down; those of
its throttles and cordons are on the brokers that have them.
"""

from __future__ import annotations

import re
import time
from collections.abc import Collection, Iterable
from enum import StrEnum
from typing import NamedTuple

from kraftops.java.numbers import parse_integer
from kraftops.wire.admin.configs import ConfigChange, Operation

DECOMMISSION, REBALANCE, DRAIN = "decommission", "rebalance", "drain"
REPLICATION, REPAIR, RESTART = "replication", "repair", "restart"
MOVE_DIRS = "move-dirs"
_MARK = re.compile(
    r"kraftops\.(?:(?P<part>throttle|directory-throttle|cordon)\.of\.)?(?P<kind>[a-z][a-z-]*)"
    r"(?:\.broker\.(?P<brokers>[0-9]{1,10}(?:-[0-9]{1,10})*))?"
    r"(?:\.dirs\.(?P<directories>[^.,]+))?"
    r"\.by\.(?P<user>[^.]+)\.at\.(?P<host>.+)\.pid\.(?P<pid>[0-9]{1,10})"
    r"\.since\.(?P<since>[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z)"
    r"(?:\.partitions\.(?P<partitions>[0-9]{1,10}))?(?:\.bytes\.(?P<size>[0-9]{1,19}))?"
    r"(?:\.waiting\.(?P<waiting>[0-9]{1,10})\.bytes\.(?P<waiting_size>[0-9]{1,19}))?"
)
_OLD_KEYS = {
    "kraftops.decommission": (DECOMMISSION, None),
    "kraftops.cordon": (DECOMMISSION, "cordon"),
    "kraftops.throttle": ("reassignment", "throttle"),
}
"""The marks of 0.2, which may be left after a kill of that release."""
MARK_VALUE = "kafka-cluster operations shows it, kafka-cluster operations cancel ends it"
_TIME = "%Y-%m-%dT%H:%M:%SZ"
_UNSAFE = re.compile(r"[^A-Za-z0-9_-]+")


class Part(StrEnum):
    """What a mark on a broker stands for, apart from the operation itself."""

    THROTTLE = "throttle"
    DIRECTORY_THROTTLE = "directory-throttle"
    CORDON = "cordon"


class Author(NamedTuple):
    """The process that works on an operation, and when the operation began, in ms."""

    user: str
    host: str
    pid: int
    since: int

    def is_alive(self) -> bool | None:
        """Tell whether the process exists; None of another host."""
        import os

        if self.host != _host():
            return None
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return False
        except OSError:
            return True  # of another user
        return True


class Load(NamedTuple):
    """Partitions to move, and the bytes to copy for them."""

    partitions: int
    size: int


class Mark(NamedTuple):
    """A mark: the operation's kind, its author if that is known, and what is marked.

    *brokers* are those that it is about, if not all; *directories* the one that is emptied, and
    those that take its replicas. *partitions* and *size*, the bytes to copy, are those when it
    began, and *waiting* those of both that its author had not begun, seconds ago or before its end.
    """

    kind: str
    author: Author | None
    part: Part | None = None
    brokers: tuple[int, ...] = ()
    partitions: int | None = None
    size: int | None = None
    waiting: Load | None = None
    directories: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        from urllib.parse import quote

        assert self.author
        user, host, pid, since = self.author
        subject = f"{self.part}.of.{self.kind}" if self.part else self.kind
        subject += f".broker.{'-'.join(map(str, self.brokers))}" if self.brokers else ""
        # Dots end a part of a key, and commas one of several keys for kafka-configs.
        paths = (quote(path, safe="/").replace(".", "%2E") for path in self.directories)
        subject += f".dirs.{':'.join(paths)}" if self.directories else ""
        began = time.strftime(_TIME, time.gmtime(since // 1000))
        counts = "" if self.partitions is None else f".partitions.{self.partitions}"
        counts += "" if self.size is None else f".bytes.{self.size}"
        counts += ".waiting.{}.bytes.{}".format(*self.waiting) if self.waiting else ""
        return f"kraftops.{subject}.by.{user}.at.{host}.pid.{pid}.since.{began}{counts}"

    def is_same(self, kind: str, brokers: Collection[int]) -> bool:
        """Tell whether it is of an operation of this kind, and of some of these brokers."""
        is_about = not self.brokers or not brokers or not {*self.brokers}.isdisjoint(brokers)
        return self.kind == kind and is_about

    def on(self, part: Part) -> Mark:
        return Mark(self.kind, self.author, part)


def new_author() -> Author:
    """Return this process as the author of an operation that begins now."""
    import getpass
    import os

    try:
        user = getpass.getuser()
    except (KeyError, OSError):  # a user id without a name
        user = str(os.getuid())
    return Author(_UNSAFE.sub("_", user), _host(), os.getpid(), int(time.time()) * 1000)


def _host() -> str:
    import socket

    return ".".join(_UNSAFE.sub("_", label) for label in socket.gethostname().split("."))


def parse_mark(key: str) -> Mark | None:
    """Read a configuration key, also of older versions of ours; None if it is not a mark."""
    if key in _OLD_KEYS:
        kind, part = _OLD_KEYS[key]
        return Mark(kind, None, Part(part) if part else None)
    parsed = _MARK.fullmatch(key)
    if parsed is None:
        return None
    from calendar import timegm
    from urllib.parse import unquote

    try:
        since = timegm(time.strptime(parsed["since"], _TIME)) * 1000
    except ValueError:  # as of a 31st of February
        return None
    author = Author(parsed["user"], parsed["host"], int(parsed["pid"]), since)
    waiting, directories = parsed["waiting"], parsed["directories"]
    return Mark(
        kind=parsed["kind"],
        author=author,
        part=Part(parsed["part"]) if parsed["part"] else None,
        brokers=tuple(map(int, parsed["brokers"].split("-"))) if parsed["brokers"] else (),
        partitions=parse_integer(parsed["partitions"] or "", 64),
        size=parse_integer(parsed["size"] or "", 64),
        waiting=Load(int(waiting), int(parsed["waiting_size"])) if waiting else None,
        directories=tuple(map(unquote, directories.split(":"))) if directories else (),
    )


def marks_in(keys: Iterable[str]) -> dict[str, Mark]:
    return {key: mark for key in keys if (mark := parse_mark(key)) is not None}


def begin_mark(mark: Mark, keys: Iterable[str]) -> tuple[Mark, list[ConfigChange]]:
    """Set the mark of an operation that begins, or goes on.

    What a mark of the same operation has from the first run stays: its time, and the number of
    partitions. Marks of several brokers, some of which are others, are kept for those.
    """
    changes = []
    for key, old in marks_in(keys).items():
        if old.part is None and old.is_same(mark.kind, mark.brokers):
            if old.author and mark.author:
                since = min(old.author.since, mark.author.since)
                mark = mark._replace(author=mark.author._replace(since=since))
            if old.brokers == mark.brokers:
                mark = mark._replace(partitions=old.partitions, size=old.size)
            changes += _without(key, old, mark.brokers)
    changes = [change for change in changes if change.key != mark.key]
    return mark, [*changes, ConfigChange(mark.key, Operation.SET, MARK_VALUE)]


def end_marks(kind: str, brokers: Collection[int], keys: Iterable[str]) -> list[ConfigChange]:
    """Remove the marks of an operation on these brokers; one that has others too keeps those."""
    return [
        change
        for key, mark in marks_in(keys).items()
        if mark.part is None and mark.is_same(kind, brokers)
        for change in _without(key, mark, brokers)
    ]


def _without(key: str, mark: Mark, brokers: Collection[int]) -> list[ConfigChange]:
    others = tuple(broker for broker in mark.brokers if broker not in brokers)
    changes = [ConfigChange(key, Operation.DELETE)]
    if others and brokers:
        other = mark._replace(brokers=others)
        changes.append(ConfigChange(other.key, Operation.SET, MARK_VALUE))
    return changes


def keys_of(keys: Iterable[str], part: Part) -> list[str]:
    return [key for key, mark in marks_in(keys).items() if mark.part is part]
