"""Quorums of three controllers, spoilt, and the outcome of their start."""

import shutil
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

from kraftops.findings.finding import Finding
from kraftops.log.log_file import LogFile
from kraftops.storage.config.server_config import load_config
from kraftops.storage.logdirs.node import read_node
from kraftops.storage.verify.voter_logs import committed_end
from tests.helpers.kafka.cases.damaged_directories import (
    LOG,
    OTHER_ID,
    Change,
    all_of,
    at,
    configured,
    format_node,
    matching,
    removed,
    with_properties,
    write,
)
from tests.helpers.kafka.cases.verify import (
    ENDS,
    LOSES,
    STARTS,
    WAITS,
    Outcome,
    storage,
    verified,
)
from tests.helpers.kafka.nodes.configs import (
    CONTROLLER,
    Config,
    _written,
    broker,
    controllers,
    directory_id,
    initial_controllers,
)
from tests.helpers.kafka.nodes.nodes import Node, NodeError, running, until
from tests.helpers.kafka.nodes.protocol import AnswerError

LIMIT = 60  # seconds
BROKER_ID = 101
ELECTIONS = 4  # that fail while all nodes run, after which no later one is expected to succeed
IS_UP = "Starting (org.apache.kafka.raft.KafkaRaftClientDriver)"
NO_MAJORITY = "Election timed out before receiving sufficient vote responses"
NO_VOTERS = "Starting voters are VoterSet(voters={})"
BEGINNING = 4
"""The batches of a log that an old copy of it has: without the topic."""

QuorumChange = Callable[[Sequence[Config]], Sequence[Config] | None]


class QuorumCase(NamedTuple):
    """A change of three controllers, what becomes of their start, and what verify says of them.

    *codes* are those of the findings that stop something. Only the nodes *started* are started.
    """

    outcome: Outcome
    codes: set[str]
    change: QuorumChange | None = None
    started: Sequence[int] = (1, 2, 3)
    cure: QuorumChange | None = None


def of(*numbers: int, change: Change) -> QuorumChange:
    """Change some of the nodes."""

    def changed(configs: Sequence[Config]) -> list[Config]:
        return [
            (change(config) or config) if number in numbers else config
            for number, config in enumerate(configs, 1)
        ]

    return changed


def batches_of(config: Config) -> list[tuple[int, int, int, int]]:
    """Return end in its file, base offset, epoch and CRC of each batch of a log."""
    found = []
    for path in matching(config, f"{LOG}/*.log"):
        with LogFile(str(path)) as log:
            found += [(batch.position + batch.size, batch.header) for batch in log.batches()]
    return [(end, head.base_offset, head.leader_epoch, head.crc) for end, head in found]


def cut_after(count: int) -> Change:
    """Leave only the first batches of a log (of the last ones, if negative, leave these out)."""

    def change(config: Config) -> None:
        (path,) = matching(config, f"{LOG}/*.log")
        end = batches_of(config)[:count][-1][0]
        write(path, path.read_bytes()[:end])

    return change


def formatted_again(*numbers: int) -> QuorumChange:
    """Wipe controllers, and format them with the same list."""

    def changed(configs: Sequence[Config]) -> None:
        ids = ",".join(
            f"{config.node_id}@localhost:{config.ports[CONTROLLER]}:{directory_id(config.node_id)}"
            for config in configs
        )
        for number in numbers:
            shutil.rmtree(configs[number - 1].log_dirs[0])
            format_node(configs[number - 1], initial_controllers=ids)

    return changed


def of_a_later_epoch(config: Config) -> None:
    """Have another leader have written the last batch; the checksum is not of the epoch."""
    (path,) = matching(config, f"{LOG}/*.log")
    data = bytearray(path.read_bytes())
    position = ([0] + [end for end, *_ in batches_of(config)])[-2]
    data[position + 12 : position + 16] = (5).to_bytes(4)
    write(path, bytes(data))
    removed(f"{LOG}/leader-epoch-checkpoint")(config)


def wiped(config: Config) -> None:
    """Lose the disk."""
    shutil.rmtree(config.log_dirs[0])


def with_hosts(*numbers: int, changes: Callable[[Config], str]) -> QuorumChange:
    """Give voters other hosts, by `recover` on each node."""

    def changed(configs: Sequence[Config]) -> None:
        pairs = ",".join(changes(config) for config in configs if config.node_id in numbers)
        logs = [f"--from={at(config, LOG)}" for config in configs]
        hosts = ("--listener-hosts", pairs, "--unseen-broker", str(BROKER_ID))
        for config in configs:
            done = storage("recover", "-c", str(config.path), *logs, *hosts, "--yes")
            assert done.code == 0, done.err

    return changed


def lost_name(config: Config) -> str:
    port = config.ports[CONTROLLER]
    return f"localhost:{port}=c{config.node_id}.invalid:{port}"


def found_name(config: Config) -> str:
    port = config.ports[CONTROLLER]
    return f"c{config.node_id}.invalid:{port}=localhost:{port}"


def own_quorum(config: Config) -> None:
    """Format a controller again, with itself as the only voter."""
    wiped(config)
    format_node(config, standalone=True)


def no_voters(config: Config) -> None:
    """Format a controller again, without voters."""
    wiped(config)
    format_node(config, no_initial_controllers=True)


CASES = {
    "as it was": QuorumCase(STARTS, set()),
    "one log without its end": QuorumCase(STARTS, set(), of(3, change=cut_after(-2))),
    "one formatted again": QuorumCase(STARTS, set(), formatted_again(3)),
    "two formatted again": QuorumCase(
        LOSES, {"rival-history"}, formatted_again(2, 3), started=(2, 3)
    ),
    "two old copies": QuorumCase(
        LOSES, {"rival-history"}, of(2, 3, change=cut_after(BEGINNING)), started=(2, 3)
    ),
    "two with another history": QuorumCase(
        LOSES, {"two-histories"}, of(2, 3, change=all_of(cut_after(BEGINNING), of_a_later_epoch))
    ),
    "one node id twice": QuorumCase(
        WAITS,
        {"node-id-twice"},
        of(3, change=all_of(with_properties({"node.id": "1"}), configured({"node.id": "1"}))),
        started=(1, 3),
    ),
    "a voter that is a broker": QuorumCase(
        WAITS,
        {"not-a-controller"},
        of(
            3,
            change=configured(
                {"process.roles": "broker", "listeners": "PLAINTEXT://localhost:{port}"}
            ),
        ),
        started=(1, 3),
    ),
    "one old copy": QuorumCase(STARTS, set(), of(3, change=cut_after(BEGINNING))),
    "two lost disks": QuorumCase(
        WAITS, {"quorum-lost", "not-formatted"}, of(2, 3, change=wiped), started=(1,)
    ),
    "one lost disk": QuorumCase(STARTS, {"not-formatted"}, of(3, change=wiped), started=(1, 2)),
    "two other directory ids": QuorumCase(
        WAITS,
        {"quorum-lost", "other-directory-id"},
        lambda configs: [
            configs[0],
            *(
                with_properties({"directory.id": text})(config) or config
                for config, text in zip(configs[1:], (OTHER_ID, directory_id(9)), strict=True)
            ),
        ],
    ),
    "one other directory id": QuorumCase(
        WAITS,
        {"other-directory-id"},
        of(3, change=with_properties({"directory.id": OTHER_ID})),
        started=(1, 3),
    ),
    "one directory id twice": QuorumCase(
        WAITS,
        {"directory-id-twice", "other-directory-id"},
        of(3, change=with_properties({"directory.id": directory_id(1)})),
        started=(1, 3),
    ),
    "own quorum": QuorumCase(
        LOSES, {"voters-differ", "other-directory-id"}, of(3, change=own_quorum), started=(3,)
    ),
    "other cluster": QuorumCase(
        WAITS,
        {"other-cluster"},
        of(3, change=with_properties({"cluster.id": OTHER_ID})),
        started=(1, 3),
    ),
    "one directory of two nodes": QuorumCase(
        ENDS,
        {"shared-directory", "other-node-id", "other-directory-id"},
        of(3, change=configured({"log.dirs": "{folder}/../node-1/d1"})),
    ),
    "none with voters": QuorumCase(WAITS, {"all-wait"}, of(1, 2, 3, change=no_voters)),
    "two names that do not resolve": QuorumCase(STARTS, set(), with_hosts(2, 3, changes=lost_name)),
    "no name that resolves": QuorumCase(
        WAITS,
        {"unresolved-voter"},
        with_hosts(1, 2, 3, changes=lost_name),
        cure=with_hosts(1, 2, 3, changes=found_name),
    ),
}


class QuorumTrial(NamedTuple):
    """The findings of verify, and the outcome of a start; there is none of nodes not started."""

    findings: list[Finding]
    outcome: Outcome | None
    log: str
    cured: "QuorumTrial | None" = None


def not_started(configs: Sequence[Config], *_: object) -> QuorumTrial:
    """Verify nodes that are not started."""
    return QuorumTrial(verified(*configs), None, "")


class QuorumTrials:
    """A thread that runs the trials of all cases, one after the other on the same ports.

    Nodes of those *started* are started.
    """

    def __init__(
        self,
        jars: Path,
        folder: Path,
        cases: Mapping[str, QuorumCase] = CASES,
        started: Collection[str] = CASES,
    ) -> None:
        self._jars = jars
        self._started = started
        self._folder = folder
        self._pool = ThreadPoolExecutor(1)
        self._template = self._pool.submit(self._used)
        self._trials: dict[str, Future[QuorumTrial]] = {
            name: self._pool.submit(self._try, number, name, case)
            for number, (name, case) in enumerate(cases.items())
        }

    def close(self) -> None:
        self._pool.shutdown(cancel_futures=True)

    def trial(self, name: str) -> QuorumTrial:
        """Return the trial of a case."""
        return self._trials[name].result()

    def copies(self, folder: Path) -> list[Config]:
        """Return controllers with copies of the directories, on the same ports."""
        found = []
        for used in self._template.result():
            name = f"node-{used.node_id}"
            folder.mkdir(exist_ok=True)
            shutil.copytree(used.log_dirs[0], folder / name / "d1")
            settings = {**used.settings, "log.dirs": str(folder / name / "d1")}
            path = folder / f"{name}.properties"
            found.append(_written(path, used.node_id, settings, used.ports))
        return found

    def _used(self) -> list[Config]:
        """Run three controllers with a broker, until most of their log is known to be committed."""
        folder = self._folder / "used"
        configs = controllers(folder, 3)
        for config in configs:
            format_node(config, initial_controllers=initial_controllers(configs))
        disk = format_node(broker(folder, BROKER_ID, configs))
        with ExitStack() as stack:
            nodes = [stack.enter_context(running(self._jars, config)) for config in configs]
            for node in nodes:
                node.wait_ready(3)
            with running(self._jars, disk) as member:
                member.wait_ready()
                member.fill("kept")
                topic_end = max(offset for _, offset, _, _ in batches_of(configs[0]))
                member.stop()
            assert until(lambda: _committed(configs[0]) > topic_end)
        for config in configs:
            # A server that lost an election of its own epoch asks for the same votes again, and
            # ends when it is told that this is an invalid request (4.3.1).
            removed(f"{LOG}/quorum-state")(config)
        return configs

    def _try(self, number: int, name: str, case: QuorumCase) -> QuorumTrial:
        configs: Sequence[Config] = self.copies(self._folder / f"case-{number}")
        kept = common_batches(configs)
        if case.change:
            configs = case.change(configs) or configs
        look = self.start if name in self._started else not_started
        trial = look(configs, case, kept)
        if case.cure:
            configs = case.cure(configs) or configs
            trial = trial._replace(cured=look(configs, case, kept))
        return trial

    def start(
        self, configs: Sequence[Config], case: QuorumCase, kept: list[tuple[int, int, int, int]]
    ) -> QuorumTrial:
        """Verify the nodes and start some; they had the batches *kept* in common before."""
        findings = verified(*configs)
        with ExitStack() as stack:
            chosen = [config for number, config in enumerate(configs, 1) if number in case.started]
            nodes = [stack.enter_context(running(self._jars, config)) for config in chosen]
            watch = _Watch(nodes, kept)
            assert until(watch.is_decided, LIMIT), nodes[0].logged()[-4000:]
            assert watch.outcome
            return QuorumTrial(findings, watch.outcome, nodes[-1].logged())


def _committed(config: Config) -> int:
    return committed_end(read_node(load_config(str(config.path))), 0, ()).end


def common_batches(configs: Sequence[Config]) -> list[tuple[int, int, int, int]]:
    """Return the batches that all logs have in common."""
    logs = [batches_of(config) for config in configs]
    return [found[0] for found in zip(*logs, strict=False) if len(set(found)) == 1]


class _Watch:
    """Watch over controllers that start, until the outcome can be told."""

    def __init__(self, nodes: Sequence[Node], kept: Sequence[tuple[int, int, int, int]]) -> None:
        self._nodes = nodes
        self._kept = kept
        self._failed: list[int] = []
        """The elections that had failed on each node when the last one was up."""
        self.outcome: Outcome | None = None

    def is_decided(self) -> bool:
        logs = [node.logged() for node in self._nodes]
        failed = [log.count(NO_MAJORITY) for log in logs]
        if not self._failed and all(IS_UP in log for log in logs):
            self._failed = failed
        waits = any(
            now >= then + ELECTIONS for now, then in zip(failed, self._failed, strict=False)
        )
        if any(node.exit_code is not None for node in self._nodes):
            self.outcome = ENDS
        elif (leader := next(filter(None, map(_leader_of, self._nodes)), None)) is not None:
            config = next(node.config for node in self._nodes if node.config.node_id == leader)
            has_all = batches_of(config)[: len(self._kept)] == self._kept
            self.outcome = STARTS if has_all else LOSES
        elif waits or all(NO_VOTERS in log for log in logs):
            self.outcome = WAITS
        return self.outcome is not None


def _leader_of(node: Node) -> int | None:
    try:
        leader = node.cluster().controller
    except (OSError, AnswerError, NodeError):
        return None
    return leader if leader >= 0 else None
