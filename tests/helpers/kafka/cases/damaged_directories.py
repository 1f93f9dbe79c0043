"""Changes of formatted directories: files removed, cut, flipped, replaced."""

import shutil
import struct
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from kraftops.log.batch import HEADER_SIZE, Record, is_valid
from kraftops.log.files import METADATA_PARTITION
from kraftops.log.log_file import LogFile
from kraftops.server.voters import Voter
from kraftops.storage.bootstrap.records import (
    SNAPSHOT_NAME,
    Bootstrap,
    bootstrap_bytes,
    voters_snapshot_bytes,
)
from kraftops.storage.bootstrap.releases import LATEST_PRODUCTION
from kraftops.storage.config.server_config import load_config
from kraftops.storage.format.checks import check_plan
from kraftops.storage.format.execute import format_directories
from kraftops.storage.format.plan import FormatRequest, plan_format
from kraftops.uuids import from_text
from tests.helpers.kafka.nodes.configs import CLUSTER_ID, CONTROLLER, Config
from tests.helpers.logs.written import batch_bytes

Change = Callable[[Config], Config | None]
"""A change of directories; it returns the configuration if it changes that."""

OTHER_ID = "vOKEv8VrQAyGbyFDxfFCwA"
META, BOOTSTRAP = "meta.properties", "bootstrap.checkpoint"
LOG = f"d1/{METADATA_PARTITION}"
VOTERS_SNAPSHOT = f"d1/{SNAPSHOT_NAME}"
QUORUM_STATE = f"{LOG}/quorum-state"
FIRST_SEGMENT = f"{LOG}/{0:020}.log"


def format_node(config: Config, **request: bool | str) -> Config:
    """Format the directories of a node with our library, which takes milliseconds."""
    asked = FormatRequest(cluster_id=CLUSTER_ID, ensure=True, **request)  # type: ignore[arg-type]
    plan = plan_format(load_config(str(config.path)), asked)
    check_plan(plan)
    assert [*format_directories(plan)]
    return config


def copy_node(used: Config, fresh: Config) -> Config:
    """Give a new node the directories of a used one, which has stopped."""
    for source, target in zip(used.log_dirs, fresh.log_dirs, strict=True):
        shutil.copytree(source, target)
    return fresh


# Where things are, by their path from the folder of the node


def at(config: Config, name: str) -> Path:
    """Return the path of *name*, for example d1/meta.properties."""
    return config.log_dirs[0].parent / name


def matching(config: Config, pattern: str) -> list[Path]:
    """Return the paths that match *pattern*, in order; at least one."""
    found = sorted(config.log_dirs[0].parent.glob(pattern))
    assert found, pattern
    return found


def write(path: Path, data: bytes) -> None:
    """Write a file, also a read-only one."""
    path.unlink(missing_ok=True)
    path.write_bytes(data)


def properties(config: Config, name: str = f"d1/{META}") -> dict[str, str]:
    """Return the keys and values of a file that has neither escapes nor comments."""
    lines = at(config, name).read_text().splitlines()
    return dict(line.split("=", 1) for line in lines if line[:1] != "#")


# What may have happened to them


def removed(pattern: str) -> Change:
    """Remove files and directories."""

    def change(config: Config) -> None:
        for path in matching(config, pattern):
            shutil.rmtree(path) if path.is_dir() else path.unlink()

    return change


def made(name: str) -> Change:
    """Make a directory, in the place of a file if there is one."""

    def change(config: Config) -> None:
        at(config, name).unlink(missing_ok=True)
        at(config, name).mkdir(parents=True)

    return change


def written(name: str, data: bytes) -> Change:
    """Write a file, in the place of a directory if there is one."""

    def change(config: Config) -> None:
        path = at(config, name)
        if path.is_dir():
            shutil.rmtree(path)
        write(path, data)

    return change


def appended(name: str, data: bytes) -> Change:
    """Append to a file."""

    def change(config: Config) -> None:
        write(at(config, name), at(config, name).read_bytes() + data)

    return change


def cut(name: str, count: int) -> Change:
    """Take away the last *count* bytes of a file."""

    def change(config: Config) -> None:
        write(at(config, name), at(config, name).read_bytes()[:-count])

    return change


def flipped(pattern: str, batch: int = 0) -> Change:
    """Flip a bit in the records of a batch of the last file that matches."""

    def change(config: Config) -> None:
        path = matching(config, pattern)[-1]
        with LogFile(str(path)) as log:
            position = [found.position for found in log.batches()][batch]
        data = bytearray(path.read_bytes())
        data[position + HEADER_SIZE + 4] ^= 1
        write(path, bytes(data))

    return change


def replaced(name: str, old: bytes, new: bytes) -> Change:
    """Replace the first occurrence of *old* in a file."""

    def change(config: Config) -> None:
        data = at(config, name).read_bytes()
        assert old in data
        write(at(config, name), data.replace(old, new, 1))

    return change


def copied(source: str, target: str) -> Change:
    """Copy a file or directory; *source* is a pattern, and so a part of *target* may be its name."""

    def change(config: Config) -> None:
        path = matching(config, source)[0]
        place = at(config, target.format(name=path.name))
        place.unlink(missing_ok=True) if place.is_file() else None
        shutil.copytree(path, place) if path.is_dir() else shutil.copy(path, place)

    return change


def with_properties(given: Mapping[str, str | None], name: str = f"d1/{META}") -> Change:
    """Change or remove keys of a meta.properties."""

    def change(config: Config) -> None:
        found = {**properties(config, name), **given}
        text = "".join(f"{key}={value}\n" for key, value in found.items() if value is not None)
        at(config, name).write_text(text)

    return change


def configured(given: Mapping[str, str | None]) -> Change:
    """Change or remove keys of the configuration; `{d1}` and `{port}` stand for its own."""

    def change(config: Config) -> Config:
        folder = config.log_dirs[0].parent
        words = {"folder": folder, "port": config.ports.get(CONTROLLER)}
        every = {**config.settings, **given}
        texts = {key: text.format(**words) for key, text in every.items() if text is not None}
        return replace(config, settings={}).changed(texts)

    return change


def all_of(*changes: Change) -> Change:
    """Make several changes in order."""

    def change(config: Config) -> Config:
        for one in changes:
            config = one(config) or config
        return config

    return change


def bootstrapped(levels: Mapping[str, int], level: int = LATEST_PRODUCTION.level) -> Change:
    """Write a bootstrap.checkpoint with other feature levels."""
    version = LATEST_PRODUCTION._replace(level=level)
    return written(f"d1/{BOOTSTRAP}", bootstrap_bytes(Bootstrap(version, levels, ()), 0))


def voting(*voters: tuple[int, str | None], host: str = "localhost") -> Change:
    """Write a snapshot of other voters: ids of nodes and directories, None for this node's own."""

    def change(config: Config) -> None:
        own = properties(config)["directory.id"]
        port = config.ports[CONTROLLER]
        given = [Voter(node, from_text(place or own), host, port) for node, place in voters]
        write(at(config, VOTERS_SNAPSHOT), voters_snapshot_bytes(given, CONTROLLER, 0))

    return change


def with_record(value: bytes) -> Change:
    """Append a batch to the metadata log."""

    def change(config: Config) -> None:
        path = matching(config, f"{LOG}/*.log")[-1]
        with LogFile(str(path)) as log:
            last = [batch.header for batch in log.batches()][-1]
        record = Record(last.last_offset + 1, last.max_timestamp, None, value)
        batch = batch_bytes([record], leader_epoch=last.leader_epoch)
        write(path, path.read_bytes() + batch)

    return change


def feature_record(name: str, level: int) -> bytes:
    """Return a FeatureLevelRecord of version 0 in its frame."""
    return struct.pack(f">4B{len(name)}shB", 1, 12, 0, len(name) + 1, name.encode(), level, 0)


def end_of_log(config: Config) -> int:
    """Return the offset after the last whole batch of the metadata log, even after damaged ones."""
    end = 0
    for path in sorted(at(config, LOG).glob("*.log")):
        if not path.is_file():
            continue
        with LogFile(str(path)) as log:
            for batch in log.batches():
                if is_valid(batch, batch.header.crc):
                    end = batch.header.last_offset + 1
    return end
