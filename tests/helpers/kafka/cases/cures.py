"""Cures of findings, tried on real nodes: a fault, the printed commands and what the cure says, a start.

`python -m tests.helpers.kafka.cases.cures [--only CODE …]` tries the cure of every code of
`kafka-storage verify` and `kafka-dump-log --check` on Kafka 4.3.1, and lists the codes whose cure
is a decision.
"""

import argparse
import json
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from kraftops.findings.catalogue import CatalogueRow, catalogue
from kraftops.log.batch import Record
from tests.helpers.findings.check_faults import Fault, flip, in_batches, remove
from tests.helpers.findings.check_faults import write as overwrite
from tests.helpers.kafka.cases.cure_cases import CURES, DECISIONS, QUORUM_CURES, QuorumCure
from tests.helpers.kafka.cases.damaged_directories import format_node
from tests.helpers.kafka.cases.start_trials import StartTrials
from tests.helpers.kafka.cases.verify import STARTS
from tests.helpers.kafka.cases.verify_quorums import QuorumCase, QuorumTrials, common_batches
from tests.helpers.kafka.jvm.jars import resolved_jars
from tests.helpers.kafka.nodes.clusters import FIRST_BROKER, Cluster, Shape, running_cluster
from tests.helpers.kafka.nodes.configs import Config, controllers
from tests.helpers.kafka.nodes.contents import add_topic
from tests.helpers.kafka.nodes.nodes import Node, running, until
from tests.helpers.kafka.nodes.protocol import AnswerError
from tests.helpers.logs.written import batch_bytes
from tests.helpers.tools.console import COMMANDS, run_here

RELEASE = "4.3.1"
TOPIC = "kept"
_FOLLOWER = FIRST_BROKER + 1
_LOG = f"{TOPIC}-0/{0:020}.log"
_BY_NAME = {Path(program).name: program for program in COMMANDS}
_DRY = "--dry-run"


class Told(NamedTuple):
    """What a finding tells: severity, cure and commands."""

    severity: str
    cure: str
    commands: tuple[str, ...]


class Treatment(NamedTuple):
    """What a finding told, and what became of the start after its cure."""

    told: Sequence[Told]
    outcome: str
    is_cured: bool


def tell(*configs: Config) -> dict[str, list[Told]]:
    """Return what verify and check tell of stopped nodes, by code."""
    named = [word for config in configs for word in ("-c", str(config.path))]
    verify = run_here(
        "verify",
        *named,
        "--resolve",
        "--here",
        "--format",
        "json",
        program=_BY_NAME["kafka-storage"],
    )
    answers = [json.loads(verify.text)]
    folders = dict.fromkeys(str(path) for config in configs for path in config.log_dirs)
    if existing := [path for path in folders if Path(path).is_dir()]:
        answers.append(json.loads(run_here("--check", "--format", "json", *existing).text))
    by_code: dict[str, list[Told]] = {}
    for finding in (finding for answer in answers for finding in answer.get("findings", ())):
        told = Told(finding["severity"], finding["cure"] or "", tuple(finding["commands"]))
        by_code.setdefault(finding["code"], []).append(told)
        for fact in finding["evidence"]:  # a risk of a file is evidence of a refusal by it
            for code in re.findall(r" \[([\w-]+)\]$", fact["fact"]):
                by_code.setdefault(code, []).append(told)
    return by_code


def run_printed(told: Sequence[Told]) -> None:
    """Run the commands of ours that findings print; a recovery first dry, then for good.

    The disks of brokers that a recovery asks for are accepted as unseen: here are none.

    A command with a place for a name that only a person knows is not run.
    """
    for program, *args in map(shlex.split, _printed(told, is_ours=True)):
        if any(word.endswith("=NEW") for word in args):
            continue
        done = run_here(*args, program=_BY_NAME[program])
        usual = {2} if "--check" in args else {2, 3} if _DRY in args else set()
        assert done.code in {0, *usual}, done.err + done.text
        if _DRY in args:
            args[args.index(_DRY)] = "--yes"
            done = run_here(*args, program=_BY_NAME[program])
            if accepted := re.search(r"Or accept that: (--unseen-broker [\d,]+)", done.err):
                done = run_here(*args, *accepted[1].split(), program=_BY_NAME[program])
            assert done.code == 0, done.err + done.text


def run_in_shell(told: Sequence[Told]) -> None:
    """Run the commands for files that findings print."""
    for command in _printed(told, is_ours=False):
        subprocess.run(["sh", "-c", command], check=True, capture_output=True)


def _printed(told: Sequence[Told], *, is_ours: bool) -> list[str]:
    commands = dict.fromkeys(command for finding in told for command in finding.commands)
    return [command for command in commands if (command.split()[0] in _BY_NAME) is is_ours]


@dataclass(frozen=True)
class Cures:
    """Trials of cures in a folder, beside a controller whose cluster others can join."""

    jars: Path
    folder: Path
    starts: StartTrials
    closing: ExitStack

    @cached_property
    def quorums(self) -> QuorumTrials:
        """Quorums of three controllers."""
        trials = QuorumTrials(self.jars, self.folder / "quorums", {})
        self.closing.callback(trials.close)
        return trials

    @cached_property
    def replicas(self) -> "Replicas":
        """A cluster with two replicas."""
        return Replicas(
            self.closing.enter_context(_replicated(self.jars, self.folder / "replicas"))
        )

    def treat(self, code: str) -> Treatment:
        """Make the fault of a code on the disk of a node, cure it, and start the node."""
        if code in REPLICA_FAULTS:
            return self.replicas.treat(code)
        if code in QUORUM_CURES:
            return self._treat_quorum(code, QUORUM_CURES[code])
        case = CURES[code]
        node = self.starts.node([*CURES].index(code), case)
        told = tell(node)[code]
        assert case.cure
        run_in_shell(told)
        node = case.cure(node) or node
        run_printed(told)
        trial = self.starts.start(node, case)
        severe = {one.severity for one in tell(node).get(code, ())} - {"note"}
        return Treatment(told, trial.outcome.value, trial.outcome is STARTS and not severe)

    def _treat_quorum(self, code: str, cure: QuorumCure) -> Treatment:
        nodes: Sequence[Config] = self.quorums.copies(self.folder / f"quorum-{code}")
        kept = [] if cure.is_new else common_batches(nodes)
        nodes = cure.change(nodes) or nodes
        told = tell(*nodes)[code]
        run_printed(told)
        nodes = cure.cure(nodes) or nodes
        trial = self.quorums.start(nodes, QuorumCase(STARTS, set(), started=cure.started), kept)
        return Treatment(told, trial.outcome.value, trial.outcome is STARTS)


class ReplicaFault(NamedTuple):
    """Faults in the replica of a broker that has stopped, or was killed, while its leader runs."""

    faults: tuple[Fault, ...]
    is_killed: bool = False


def _without_second(batches: list[bytes]) -> list[bytes]:
    return [*batches[:1], *batches[2:]]


REPLICA_FAULTS: Mapping[str, ReplicaFault] = {
    "start-refused": ReplicaFault((overwrite(f"{TOPIC}-0/partition.metadata", ""),)),
    "bad-batch": ReplicaFault((flip(_LOG, 175),)),
    "magic-unknown": ReplicaFault(
        (in_batches(_LOG, lambda batches: [batches[0], batches[1][:16] + b"\5" + batches[1][17:]]),)
    ),
    "missing-offsets": ReplicaFault((in_batches(_LOG, _without_second),)),
    "repeated-offsets": ReplicaFault(
        (in_batches(_LOG, lambda batches: [*batches[:2], batches[1], *batches[2:]]),)
    ),
    "start-cuts-log": ReplicaFault(
        (flip(_LOG, 175), remove("recovery-point-offset-checkpoint")), is_killed=True
    ),
    "missing-end": ReplicaFault((remove(f"{TOPIC}-0/*.log"),)),
    "missing-start": ReplicaFault((remove(f"{TOPIC}-0/{0:020}.*"),)),
    "no-log": ReplicaFault((remove(f"{TOPIC}-0/{0:020}.log"),)),
    "epochs-differ": ReplicaFault(
        (overwrite(f"{TOPIC}-0/leader-epoch-checkpoint", "0\n1\n7 0\n"),)
    ),
    "no-epochs": ReplicaFault((remove(f"{TOPIC}-0/leader-epoch-checkpoint"),)),
    "txn-index-differs": ReplicaFault(
        (lambda folder: (folder / _LOG).with_suffix(".txnindex").write_bytes(bytes(34)),)
    ),
    "txn-index-torn": ReplicaFault(
        (lambda folder: (folder / _LOG).with_suffix(".txnindex").write_bytes(b"x"),)
    ),
}
"""Cured by moving the directory away while the leader runs: the broker fetches it again."""


@dataclass(frozen=True, slots=True)
class Replicas:
    """A cluster that runs, with two replicas of a partition."""

    cluster: Cluster

    def treat(self, code: str) -> Treatment:
        """Make a fault in the replica of a broker, move it away, and start the broker."""
        leader, follower = (self.cluster.nodes[number] for number in (FIRST_BROKER, _FOLLOWER))
        folder = follower.config.log_dirs[0]
        fault = REPLICA_FAULTS[code]
        follower.kill() if fault.is_killed else follower.stop()
        for change in fault.faults:
            change(folder)
        by_code = tell(follower.config)
        assert code in by_code, by_code
        told = by_code[code]
        run_in_shell(told)
        shutil.rmtree(folder / f"{TOPIC}-0", ignore_errors=True)  # unless a command has moved it
        shutil.rmtree(f"{folder}.aside", ignore_errors=True)
        follower.start()
        is_equal = until(lambda: _logs(follower) == _logs(leader), 60)
        follower.stop()
        is_cured = is_equal and code not in tell(follower.config)
        follower.start()
        follower.wait_ready(2)
        outcome = "it has all that its leader has" if is_equal else follower.logged()[-2000:]
        return Treatment(told, outcome, is_cured)


@contextmanager
def _replicated(jars: Path, folder: Path) -> Iterator[Cluster]:
    settings = {"log.segment.bytes": "1048576", "log.retention.ms": "-1"}
    shape = Shape(controllers=1, brokers=2, settings=settings)
    with running_cluster(jars, folder, shape) as cluster:
        brokers = [cluster.nodes[number] for number in (FIRST_BROKER, _FOLLOWER)]
        add_topic(cluster.brokers, TOPIC, replicas=2)
        batch = batch_bytes([Record(number, 1, None, b"x" * 1000) for number in range(300)])
        for _ in range(6):  # two segments
            assert until(lambda: any(_takes(node, batch) for node in brokers))
        assert until(lambda: _logs(brokers[0]) == _logs(brokers[1]))
        yield cluster


def _takes(node: Node, batch: bytes) -> bool:
    try:
        return node.produce(TOPIC, batch) >= 0
    except AnswerError:
        return False


def _logs(node: Node) -> dict[str, bytes]:
    folder = node.config.log_dirs[0] / f"{TOPIC}-0"
    return {path.name: path.read_bytes() for path in folder.glob("*.log")}


@contextmanager
def cures_in(folder: Path, jars: Path) -> Iterator[Cures]:
    """Make trials of cures ready in a folder."""
    live = format_node(controllers(folder / "live", 1)[0], standalone=True)
    with running(jars, live) as node, ExitStack() as closing:
        node.wait_ready()
        starts = StartTrials(jars, folder, live)
        closing.callback(starts.close)
        yield Cures(jars, folder, starts, closing)


def rows() -> list[CatalogueRow]:
    """Return the rows of the catalogue that verify and check have."""
    return [row for row in catalogue().values() if {"check", "verify"} & {*row.tools}]


def main() -> int:
    """Try the cures; return 1 if one does not lead to a start."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*", help="codes")
    chosen = parser.parse_args().only
    cured = commands = decided = 0
    failed: list[str] = []
    with (
        tempfile.TemporaryDirectory() as folder,
        cures_in(Path(folder), resolved_jars(RELEASE)) as cures,
    ):
        for row in rows():
            if chosen and row.code not in chosen:
                continue
            if row.code in DECISIONS:
                decided += 1
                _print(f"{row.code}: a person decides: {DECISIONS[row.code]}")
                continue
            try:
                treatment = cures.treat(row.code)
            except (
                AssertionError,
                KeyError,
                OSError,
                StopIteration,
                ValueError,
                subprocess.CalledProcessError,
            ) as error:
                failed.append(row.code)
                _print(f"{row.code}: NOT TRIED: {type(error).__name__} {str(error)[:2000]}")
                continue
            cured += treatment.is_cured
            told = treatment.told[0]
            commands += len(told.commands)
            cure = "; ".join([told.cure or row.action, *told.commands])
            _print(f"{row.code} ({told.severity}): {cure}\n    {treatment.outcome}")
            if not treatment.is_cured:
                failed.append(row.code)
    _print(
        f"{cured} cures lead to a start, with {commands} printed commands; {decided} are decisions; "
        f"{len(failed)} fail: {', '.join(failed) or 'none'}"
    )
    return 1 if failed else 0


def _print(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
