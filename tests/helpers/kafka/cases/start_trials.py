"""Trials of nodes: a directory is changed, the node started, then repaired and started again."""

import re
import shutil
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from threading import Lock
from typing import NamedTuple

from kraftops.findings.finding import Finding
from kraftops.log.files import METADATA_PARTITION
from kraftops.server.partition_data import partition_data_of
from tests.helpers.kafka.cases.damaged_directories import (
    LOG,
    at,
    copy_node,
    end_of_log,
    format_node,
)
from tests.helpers.kafka.cases.verify import (
    CASES,
    ENDS,
    LOSES,
    STARTS,
    WAITS,
    Case,
    Outcome,
    verified,
)
from tests.helpers.kafka.nodes.configs import Config, broker, combined, controllers
from tests.helpers.kafka.nodes.nodes import running, until
from tests.helpers.logs.log_directories import REAL

SIDE_BY_SIDE = 3
LIMIT = 60  # seconds
STOPS = 5  # on a busy machine one may end before the log is closed, or just after a snapshot

# What a node logs that will never be ready, if no other node comes.
WAITING = re.compile(
    r"Starting voters are VoterSet\(voters=\{\}\)|the controller returned error INVALID_REGISTRATION"
    r"|Election timed out before receiving sufficient vote responses"
)
ELECTION = "ProspectiveState"
NO_LEADER = "we still don't know the high water mark yet"  # every 100 ms
PATIENCE = 20  # such lines; a voter begins its election before the first
OFFLINE = re.compile(
    r"Failed to create or validate data directory|Stopping serving logs in dir"
    r"|Found stray log dir .*: the topicId "
)
TRUNCATED = re.compile(
    rf"partition={METADATA_PARTITION}, .*Corruption found in segment \d+, truncating to offset (\d+)"
)


def _with_metadata_directory(folder: Path) -> Config:
    return combined(folder).changed({"metadata.log.dir": f"{folder}/node-1/m"})


ALONE: dict[str, Callable[[Path], tuple[Config, bool]]] = {
    "standalone": lambda folder: (combined(folder), True),
    "combined": lambda folder: (combined(folder, static=True), False),
    "static": lambda folder: (controllers(folder, 1, static=True)[0], False),
    "two": lambda folder: (combined(folder, log_dirs=2), True),
    "apart": lambda folder: (_with_metadata_directory(folder), True),
    "controller": lambda folder: (controllers(folder, 1)[0], True),
}
"""Configurations of nodes that need no other, by shape, and whether they are standalone."""
REAL_SHAPES = ("stopped", "running")
"""Log directories of the real broker whose files tests have."""


class Trial(NamedTuple):
    """The findings of verify and the outcome of a start, before and after the repair.

    There is no outcome of a node that was not started.
    """

    findings: list[Finding]
    outcome: Outcome | None
    log: str
    cured: "Trial | None" = None


def has_lost(log: str, end: int) -> bool:
    """Tell whether a node that is ready has dropped data; its log ended at offset *end* before."""
    truncated = TRUNCATED.search(log)
    return OFFLINE.search(log) is not None or bool(truncated and int(truncated[1]) < end)


def records_in(log_dirs: Sequence[Path]) -> dict[str, int]:
    """Return the records of the partitions in log directories, by name."""
    found: dict[str, int] = {}
    for path in (path for directory in log_dirs for path in directory.glob("*-[0-9]")):
        if path.is_dir() and path.name != METADATA_PARTITION:
            found[path.name] = partition_data_of(str(path)).records or 0
    return found


def are_there(expected: Mapping[str, int], config: Config) -> bool:
    """Tell whether the partitions of a node have as many records as expected."""
    found = records_in(config.log_dirs)
    return all(found.get(name, 0) >= count for name, count in expected.items())


def will_wait(log: str) -> bool:
    """Tell whether a node waits forever if no other node starts."""
    is_observer = ELECTION not in log and log.count(NO_LEADER) >= PATIENCE
    return is_observer or WAITING.search(log) is not None


def not_started(config: Config, _: Case) -> Trial:
    """Verify a node that is not started."""
    return Trial(verified(config), None, "")


class StartTrials:
    """A pool of threads that runs the trials of all cases; nodes of those *started* are started."""

    def __init__(
        self, jars: Path, folder: Path, live: Config, started: Collection[str] = CASES
    ) -> None:
        self._jars = jars
        self._started = started
        self._folder = folder
        self._live = live
        self._pool = ThreadPoolExecutor(SIDE_BY_SIDE)
        self._trials: dict[str, Future[Trial]] = {}
        self._making = {"used": self._used, "grown": self._grown}
        self._makers = ThreadPoolExecutor(len(self._making))  # trials wait for them
        self._templates: dict[str, Future[Config]] = {}
        self._lock = Lock()

    def close(self) -> None:
        for pool in (self._pool, self._makers):
            pool.shutdown(cancel_futures=True)

    def _template(self, shape: str) -> Config:
        """Return the node that others of its shape are copies of, made when it is first needed."""
        with self._lock:
            if shape not in self._templates:
                self._templates[shape] = self._makers.submit(self._making[shape])
        return self._templates[shape].result()

    def trial(self, name: str) -> Trial:
        """Return the trial of a case; the next cases are started too."""
        names = [*CASES]
        first = names.index(name)
        for number, each in enumerate(names[first : first + 2 * SIDE_BY_SIDE], first):
            if each not in self._trials:
                self._trials[each] = self._pool.submit(self._try, number, each)
        return self._trials[name].result()

    def node(self, number: int, case: Case) -> Config:
        """Return a node with what is done to it."""
        config = self._node(case.shape, number)
        if case.change:
            config = case.change(config) or config
        return config

    def _try(self, number: int, name: str) -> Trial:
        case = CASES[name]
        config = self.node(number, case)
        look = self.start if name in self._started else not_started
        trial = look(config, case)
        if case.cure:
            config = case.cure(config) or config
            trial = trial._replace(cured=look(config, case))
        return trial

    def start(self, config: Config, case: Case) -> Trial:
        """Verify and start a node; whether it has all that it had is told by its template."""
        findings = verified(config)
        end = end_of_log(config)
        expected = records_in(config.log_dirs)
        if case.shape in self._making:
            expected |= records_in(self._template(case.shape).log_dirs)
        elif case.shape in REAL_SHAPES:
            expected |= records_in([REAL / case.shape])
        with running(self._jars, config) as node:
            found: list[Outcome] = []

            def is_decided() -> bool:
                code, log = node.exit_code, node.logged()
                if code is not None:
                    found.append(ENDS)
                elif node.is_ready():
                    has_all = are_there(expected, config) and not has_lost(node.logged(), end)
                    found.append(STARTS if has_all else LOSES)
                elif case.is_alone and will_wait(log):
                    found.append(WAITS)
                return bool(found)

            assert until(is_decided, LIMIT), node.logged()[-4000:]
            if case.cure:
                node.stop()  # a broker that is killed is waited for when it comes again
            return Trial(findings, found[0], node.logged())

    def _node(self, shape: str, number: int) -> Config:
        folder = self._folder / f"case-{number}"
        if shape in REAL_SHAPES:
            config = combined(folder, static=True)
            shutil.copytree(REAL / shape, config.log_dirs[0])
            return config
        if shape in self._making:
            template = self._template(shape)
            if shape == "used":
                return copy_node(template, combined(folder, static=True, log_dirs=2))
            return copy_node(template, controllers(folder, 1)[0])
        if shape.endswith("broker"):
            return format_node(broker(folder, 100 + number, [self._live]))
        if shape.endswith("joining"):
            servers = "controller.quorum.bootstrap.servers"
            changes = {"node.id": str(100 + number), servers: self._live.settings[servers]}
            config = controllers(folder, 1)[0].changed(changes)
            return format_node(config, no_initial_controllers=True)
        config, is_standalone = ALONE[shape](folder)
        return format_node(config, standalone=is_standalone)

    def _used(self) -> Config:
        """Run a broker that is its only controller, with a topic, and stop it."""
        config = format_node(combined(self._folder / "used", static=True, log_dirs=2))
        with running(self._jars, config) as node:
            node.wait_ready()
            node.fill("kept", partitions=2)
            node.stop()
        return config

    def _grown(self) -> Config:
        """Run a controller until its log has several segments and snapshots, and stop it."""
        config = format_node(
            controllers(self._folder / "grown", 1)[0].changed(
                {
                    "internal.metadata.log.segment.bytes": "2000",
                    "metadata.log.max.record.bytes.between.snapshots": "500",
                    "metadata.max.idle.interval.ms": "10",
                }
            ),
            standalone=True,
        )
        for _ in range(STOPS):
            with running(self._jars, config) as node:
                node.wait_ready()
                assert until(lambda: has_grown(at(config, LOG)), LIMIT)
                node.stop(LIMIT)
            is_amid = last_segment(at(config, LOG)).stat().st_size and not has_last_snapshot(config)
            if is_closed(config) and is_amid:
                return config
        raise AssertionError("the controller did not close its metadata log amid a segment")


def is_closed(config: Config) -> bool:
    """Tell whether the metadata log has the producer snapshot of `UnifiedLog.close` at its end."""
    return (at(config, LOG) / f"{end_of_log(config):020}.snapshot").exists()


def has_last_snapshot(config: Config) -> bool:
    """Tell whether a snapshot has the last record, too: the log could lose it unnoticed."""
    newest = max(int(path.name[:20]) for path in at(config, LOG).glob("0*.checkpoint"))
    return newest >= end_of_log(config) - 1


def last_segment(log: Path) -> Path:
    return max(log.glob("*.log"))


def has_grown(log: Path) -> bool:
    """Tell whether there are several segments, with several batches in the last one."""
    return len(list(log.glob("*.log"))) > 2 and last_segment(log).stat().st_size > 500
