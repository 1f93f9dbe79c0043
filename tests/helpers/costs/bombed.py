"""Commands on nodes, snapshots, indexes, archives and quorums whose batches inflate to much."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from kraftops.wire.quorum.fetch import SnapshotId
from tests.helpers.costs.bombs import WITHIN, bomb
from tests.helpers.logs.archived_logs import ZSTD
from tests.helpers.logs.bundles import KINDS
from tests.helpers.logs.costly_files import MIB, measured, packed, snapshot_around
from tests.helpers.logs.random_logs import new_record
from tests.helpers.logs.segments import plain_record
from tests.helpers.logs.written import compress
from tests.helpers.nodes.lost_quorums import BEGINNING, other_node, survivor
from tests.helpers.nodes.node_directories import CLUSTER_ID
from tests.helpers.tools.console import KRAFTOPS, Done
from tests.helpers.wire.quorums import Log, quorum

_BASE = 60 * MIB
MOST = _BASE + WITHIN * 3 // 2
_BASE_OF_COLUMNS = 80 * MIB
MOST_OF_COLUMNS = _BASE_OF_COLUMNS + WITHIN * 5 // 2
MOST_OF_HEADER_COLUMNS = _BASE_OF_COLUMNS + WITHIN * 3
"""pyarrow, of 50 MiB, copies a value to encode it, and headers once more. SECURITY has all."""
MOST_OF_NOISE, MOST_OF_NOISE_COLUMNS = _BASE + WITHIN * 4, _BASE + WITHIN * 11 // 2
"""What does not get smaller is held as it was stored, too, and is copied once more to a file."""
ADDRESSES = 1 << 30
QUORUM = "QUORUM"
"""The place of the address of `bombed_quorum` in a command."""
_FIRST, _BOMBS = 5, 4
_LONG_TEXT = 30_000
_TEXTS = 2_000
_SEGMENT = f"{0:020}"
_SPARSE = (f"{_SEGMENT}.index", f"{_SEGMENT}.timeindex", f"{4:020}.snapshot")
_SPARSE_BYTES = 128 * MIB


def most_of_dump(place: str, form: str) -> int:
    """Return the most memory of a dump of the log of a place."""
    is_in_columns = form == "parquet"
    if place == "noise" or (is_in_columns and place.startswith("old ")):
        return MOST_OF_NOISE_COLUMNS if is_in_columns else MOST_OF_NOISE
    if not is_in_columns:
        return MOST
    return MOST_OF_HEADER_COLUMNS if "headers" in place else MOST_OF_COLUMNS


class Case(NamedTuple):
    """A command of `kraftops` in a folder of `lay_out`, and how much it may take."""

    words: tuple[str, ...]
    folder: str = "."
    most: int = MOST


_LOG = "meta/__cluster_metadata-0"
_SNAPSHOT = f"{9:020}-{1:010}.checkpoint"
_SHELL = ("metadata-shell", "-s")
_OUT = ("--output", "out", "--overwrite")
_PARQUET = ("--format", "parquet", *_OUT)
_DUMP = ("dump-log", "--print-data-log")
_STORAGE = ("storage",)
_NODE = ("-c", "server.properties")
_NEW_VOTERS = ("--voters", "self", "--dry-run")

_OF_LOG = ("summary", "verify", "export /image", "log --json", "find / -value zz", "diff @4 @9")
_OF_ARCHIVE = {"rows": (*_DUMP, "--format", "json"), "check": ("dump-log", "--check")}
_OF_QUORUM = {
    "metadata-shell summary": MOST,
    "metadata-shell export /image": MOST,
    "dump-log --format json": MOST,
    "dump-log --summary": MOST,
    "report --output out --overwrite": MOST,
    "cluster describe": MOST,
}

CASES: dict[str, Case] = {
    **{
        f"log in the shell, {line}": Case((*_SHELL, _LOG, *line.split()), "node")
        for line in _OF_LOG
    },
    "log in the shell, history-of": Case((*_SHELL, _LOG, "history-of", "/image/configs"), "node"),
    **{
        f"snapshot in the shell, {line}": Case((*_SHELL, _SNAPSHOT, *line.split()))
        for line in _OF_LOG
    },
    "snapshot as text": Case(("dump-log", "--cluster-metadata-decoder", _SNAPSHOT)),
    "snapshot as rows": Case((*_DUMP, "--format", "json", _SNAPSHOT)),
    "snapshot, summary": Case(("dump-log", "--summary", _SNAPSHOT)),
    "offset index": Case(("dump-log", f"t-0/{_SEGMENT}.index")),
    "time index": Case(("dump-log", f"t-0/{_SEGMENT}.timeindex")),
    "producer snapshot": Case(("dump-log", f"t-0/{4:020}.snapshot")),
    "check": Case(("dump-log", "--check", "t-0")),
    "check of old messages": Case(("dump-log", "--check", "old-0")),
    **{
        f"{archive}, {name}": Case((*words, archive))
        for archive in KINDS
        for name, words in _OF_ARCHIVE.items()
    },
    "log.tar.gz, report": Case(("report", "log.tar.gz", *_OUT)),
    "meta.tar.gz, shell": Case((*_SHELL, "meta.tar.gz", "summary")),
    "meta.tar.gz, recover": Case(
        (*_STORAGE, "recover", *_NODE, "--from", "../meta.tar.gz", *_NEW_VOTERS), "node"
    ),
    "archive in an archive": Case((*_DUMP, "nested.tar.gz")),
    "archived log": Case((*_DUMP, f"{_SEGMENT}.log.zst")),
    "archived log, salvage": Case((*_DUMP, "--salvage", f"{_SEGMENT}.log.gz")),
    "archived log, parquet": Case((*_DUMP, *_PARQUET, f"{_SEGMENT}.log.zst"), most=MOST_OF_COLUMNS),
    "info": Case((*_STORAGE, "info", *_NODE), "node"),
    "verify of a node": Case((*_STORAGE, "verify", *_NODE), "node"),
    "format": Case((*_STORAGE, "format", *_NODE, "-t", CLUSTER_ID, "-g", "--dry-run"), "node"),
    "rewrite": Case((*_STORAGE, "rewrite", *_NODE, "--node-id", "9", "--dry-run"), "node"),
    "recover": Case((*_STORAGE, "recover", *_NODE, "--from", "../other", *_NEW_VOTERS), "node"),
    "report": Case(("report", _LOG, *_OUT), "node"),
    "report of user records": Case(("report", "t-0", *_OUT)),
    **{
        f"controller, {words}": Case((*words.split(), "-C", QUORUM), most=most)
        for words, most in _OF_QUORUM.items()
    },
    "controller, parquet": Case(("dump-log", *_PARQUET, "-C", QUORUM), most=MOST_OF_COLUMNS),
}
"""By what is read, and for what."""


def lay_out(folder: Path, codec: str) -> None:
    """Make in *folder* all that the commands read, with batches of a codec."""
    batches = metadata_bombs(codec)
    other_node(folder / "other", 2, *batches)
    survivor(folder / "node", *batches)
    (folder / _SNAPSHOT).write_bytes(snapshot_around(b"".join([*BEGINNING, *batches]), 9))
    log = bomb("batches", WITHIN, codec)
    _write_partition(folder / "t-0", log)
    old = codec if codec != "zstd" else "gzip"
    _write_partition(folder / "old-0", bomb("old value", WITHIN, old))
    _write_archives(folder, log, b"".join([*BEGINNING, *batches]))


def metadata_bombs(codec: str) -> list[bytes]:
    """Return batches of a metadata log behind `BEGINNING`: many long texts, and unknown records."""
    text = _config_record("z" * _LONG_TEXT)
    texts = b"".join(plain_record(delta, text) for delta in range(_TEXTS))
    zeros = plain_record(0, bytes(WITHIN))
    behind = _FIRST + _TEXTS
    return [
        packed(texts, codec, count=_TEXTS, first=_FIRST),
        *(packed(zeros, codec, first=behind + number) for number in range(_BOMBS)),
    ]


def _config_record(value: str) -> bytes:
    data = {"resourceType": 2, "resourceName": "kept", "name": "k", "value": value}
    made = new_record("ConfigRecord", **data).value
    assert made is not None
    return made


def _write_partition(folder: Path, log: bytes) -> None:
    """Write a segment, and beside it files that take as much as they may, next to nothing on disk."""
    folder.mkdir()
    (folder / f"{_SEGMENT}.log").write_bytes(log)
    for name in _SPARSE:
        with (folder / name).open("wb") as file:
            file.truncate(_SPARSE_BYTES)


def _write_archives(folder: Path, log: bytes, metadata: bytes) -> None:
    files = {f"t-0/{_SEGMENT}.log": log, f"t-0/{_SEGMENT}.index": bytes(10 * MIB)}
    for name, write in KINDS.items():
        write(folder / name, files)
    of_metadata = {f"__cluster_metadata-0/{_SEGMENT}.log": metadata}
    KINDS["log.tar.gz"](folder / "meta.tar.gz", of_metadata)
    inner = {"log.tar.gz": (folder / "log.tar.gz").read_bytes(), **files}
    KINDS["log.tar.gz"](folder / "nested.tar.gz", inner)
    (folder / f"{_SEGMENT}.log.zst").write_bytes(compress(ZSTD, log))
    (folder / f"{_SEGMENT}.log.gz").write_bytes(gzip.compress(log))


@contextmanager
def bombed_quorum(codec: str) -> Iterator[str]:
    """Yield the address of a controller with a snapshot of bombs, and bombs behind it."""
    batches = metadata_bombs(codec)
    end = _FIRST + _TEXTS + _BOMBS
    log = Log(start=end, high_watermark=end + 1, leader=1)
    log.snapshots[SnapshotId(end, 1)] = snapshot_around(b"".join([*BEGINNING, *batches]), end)
    last = packed(plain_record(0, bytes(WITHIN)), codec, first=end)
    log.batches = [(end, end + 1, 1, last)]
    with quorum(log) as controllers:
        controllers.most_snapshot = MIB
        yield str(controllers.address(1))


def ended(case: Case, place: Path, address: str) -> tuple[Done, int]:
    """Run a command where `lay_out` was; return its end, and its peak in bytes."""
    words = [address if word == QUORUM else word for word in case.words]
    folder = place / case.folder
    return measured("", KRAFTOPS, *words, keeps_output=False, cwd=folder, addresses=ADDRESSES)
