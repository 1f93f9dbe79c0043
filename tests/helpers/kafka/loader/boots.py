"""Real brokers that start on damaged partitions, and what is foretold of them.

`python -m tests.helpers.kafka.loader.boots --count 60 --seed 1` starts 60, half of them with two
log directories, and prints where a broker does not do what was foretold.
"""

import argparse
import re
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random

from kraftops.server.loader.contract import Consequence, DiskFolder, LoadOutcome, LoadRequest
from kraftops.server.loader.load_plan import (
    CLEAN_SHUTDOWN,
    LOG_START,
    RECOVERY_POINT,
    PartitionLoad,
    ends_server,
    load_plan,
    possible_consequences,
)
from kraftops.server.loader.partition import foretell_partition
from kraftops.server.log_directory import duplicates, read_log_directory
from tests.helpers.kafka.cases.damaged_directories import copy_node, format_node
from tests.helpers.kafka.jvm.jars import resolved_jars
from tests.helpers.kafka.loader.faults import WEIGHTS
from tests.helpers.kafka.loader.partitions import METADATA, random_partition
from tests.helpers.kafka.nodes.configs import Config, combined
from tests.helpers.kafka.nodes.nodes import running, until

SECONDS = 60
TOPIC = "kept"
_INTERVAL, _INDEX_BYTES = 100, 4096
_SETTINGS = {
    "log.index.interval.bytes": str(_INTERVAL),
    "log.index.size.max.bytes": str(_INDEX_BYTES),
    "log.retention.ms": "-1",
}
_LOADED = re.compile(
    rf"Completed load of .*? topic={TOPIC}, partition=(\d+),.* with (\d+) segments,"
    r" local-log-start-offset (\d+) and log-end-offset (\d+)"
)
_OFFLINE = re.compile(r"Stopping serving logs in dir (\S+)")


@dataclass
class Foretold:
    """What is foretold of a broker."""

    loaded: dict[int, tuple[int, int, int]] = field(default_factory=dict)
    """Segments, local start and end offset by partition."""
    offline: set[str] = field(default_factory=set)
    ends: bool = False
    may_end: bool = False
    """Whether it may end, by the order in which partitions are loaded."""


def foretell_broker(directories: Sequence[Path]) -> Foretold:
    """Return what is foretold of a broker with these log directories, the metadata's first."""
    plans = {
        str(path): load_plan(DiskFolder(str(path)), has_metadata_log=path == directories[0])
        for path in directories
    }
    foretold = Foretold()
    possible: list[frozenset[Consequence]] = []
    for path, plan in plans.items():
        outcomes = {name: _outcome(path, name, plan.request(name)) for name in plan.folders}
        loads = [PartitionLoad.of(name, outcome) for name, outcome in outcomes.items()]
        possible.append(possible_consequences(plan, loads))
        if Consequence.DIRECTORY_OFFLINE in possible[-1]:
            foretold.offline.add(path)
        for name, outcome in outcomes.items():
            if outcome.starts:
                assert outcome.local_start_offset is not None
                assert outcome.end_offset is not None
                offsets = (outcome.local_start_offset, outcome.end_offset)
                foretold.loaded[plan.folders[name].partition] = len(outcome.segments), *offsets
    foretold.ends = (
        frozenset({Consequence.BROKER_DIES}) in possible
        or any(duplicates(map(read_log_directory, plans)))
        or ends_server(foretold.offline, [*plans], str(directories[0]))
    )
    foretold.may_end = any(Consequence.BROKER_DIES in kinds for kinds in possible)
    return foretold


def _outcome(path: str, name: str, request: LoadRequest) -> LoadOutcome:
    request = replace(request, index_interval_bytes=_INTERVAL, segment_index_bytes=_INDEX_BYTES)
    return foretell_partition(DiskFolder(f"{path}/{name}"), request)


def used_broker(jars: Path, folder: Path, log_dirs: int) -> Config:
    """Return a broker with a topic that has stopped."""
    config = format_node(combined(folder, static=True, log_dirs=log_dirs).changed(_SETTINGS))
    with running(jars, config) as node:
        node.wait_ready()
        node.fill(TOPIC, partitions=6)
        node.stop()
    return config


def damage(rng: Random, directories: Sequence[Path]) -> str:
    """Replace the partitions by random ones, one or two of them damaged; return the faults."""
    was_clean = rng.random() < 0.5
    folders = [path for directory in directories for path in directory.glob(f"{TOPIC}-*")]
    damaged = rng.sample(folders, rng.choice((1, 1, 2)))
    faults = []
    kinds, weights = list(WEIGHTS), list(WEIGHTS.values())
    for directory in directories:
        starts, points = [], []
        for path in sorted(directory.glob(f"{TOPIC}-*")):
            partition = random_partition(rng, "4.3.1")
            partition.files[METADATA] = (path / METADATA).read_bytes()
            if path in damaged:
                fault = rng.choices(kinds, weights)[0]
                fault(rng, partition)
                faults.append(f"{path.name} {fault.__name__}")
            for file in path.iterdir():
                file.unlink()
            path.rmdir()
            partition.request = replace(partition.request, name=path.name)
            partition.write(directory)
            number = path.name.removeprefix(f"{TOPIC}-")
            starts.append(f"{TOPIC} {number} {partition.request.log_start_checkpoint}")
            points.append(f"{TOPIC} {number} {partition.request.recovery_point}")
        for name, lines in ((LOG_START, starts), (RECOVERY_POINT, points)):
            (directory / name).write_text("\n".join(["0", str(len(lines)), *lines, ""]))
        if not was_clean:
            (directory / CLEAN_SHUTDOWN).unlink()
    return f"{'clean' if was_clean else 'unclean'}, {', '.join(faults)}"


def difference(jars: Path, config: Config) -> str:
    """Start a broker, and return how it differs from what is foretold; empty if it does not."""
    foretold = foretell_broker(config.log_dirs)
    with running(jars, config) as node:
        until(lambda: node.exit_code is not None or node.is_ready(), SECONDS)
        if foretold.ends:
            until(lambda: node.exit_code is not None, SECONDS)
        else:
            until(
                lambda: (
                    node.exit_code is not None
                    or foretold.offline <= set(_OFFLINE.findall(node.logged()))
                )
            )
        log = node.logged()
        has_ended = node.exit_code is not None
        if has_ended != foretold.ends and not (has_ended and foretold.may_end):
            return f"ended with {node.exit_code}, foretold {foretold}:\n{log[-3000:]}"
    loaded = {
        int(number): (int(count), int(start), int(end))
        for number, count, start, end in _LOADED.findall(log)
    }
    if has_ended:  # before the others are loaded
        unequal = {number for number in loaded if foretold.loaded.get(number) != loaded[number]}
        return f"loaded {loaded}, foretold {foretold}" if unequal else ""
    offline = set(_OFFLINE.findall(log))
    if loaded != foretold.loaded or offline != foretold.offline:
        return f"loaded {loaded}, offline {offline}, foretold {foretold}"
    return ""


def main(arguments: Sequence[str] | None = None) -> int:
    """Start as many brokers as asked, and print those that differ."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    jars = resolved_jars("4.3.1")
    rng = Random(options.seed)
    differences = ends = 0
    with tempfile.TemporaryDirectory() as folder:
        used = [used_broker(jars, Path(folder, f"used-{count}"), count) for count in (1, 2)]
        for number in range(options.count):
            count = 1 + number % 2
            config = combined(Path(folder, f"boot-{number}"), static=True, log_dirs=count)
            copy_node(used[count - 1], config.changed(_SETTINGS))
            faults = damage(rng, config.log_dirs)
            ends += foretell_broker(config.log_dirs).ends
            if text := difference(jars, config):
                differences += 1
                sys.stdout.write(f"{count} directories, {faults}: {text}\n")
    sys.stdout.write(f"boots: {options.count}\nforetold to end: {ends}\n")
    sys.stdout.write(f"differences: {differences}\n")
    return int(differences > 0)


if __name__ == "__main__":
    sys.exit(main())
