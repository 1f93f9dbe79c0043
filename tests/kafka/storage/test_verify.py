"""`verify` predicts whether a real Kafka starts, on sound and damaged directories."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

import pytest

from kraftops.findings.catalogue import catalogue
from tests.helpers.kafka.cases.damaged_directories import (
    OTHER_ID,
    Change,
    all_of,
    at,
    configured,
    format_node,
    with_properties,
)
from tests.helpers.kafka.cases.start_trials import StartTrials
from tests.helpers.kafka.cases.verify import CASES, STARTS, storage
from tests.helpers.kafka.cases.verify_quorums import CASES as QUORUM_CASES
from tests.helpers.kafka.cases.verify_quorums import QuorumTrials, batches_of
from tests.helpers.kafka.nodes.configs import (
    CLUSTER_ID,
    Config,
    broker,
    combined,
    controllers,
    directory_id,
    initial_controllers,
)
from tests.helpers.kafka.nodes.nodes import Node, running, starts, until
from tests.helpers.kafka.nodes.protocol import AnswerError
from tests.helpers.nodes.node_directories import locked

pytestmark = pytest.mark.kafka


STARTED = {
    "node that has run",
    "other cluster in one directory",
    "no directory id of a voter",
    "partition missing",
    "truncated log",
    "voter with another directory",
}
"""Nodes that are started without `--long` too, of each outcome, some cured; all are verified."""
STARTED_QUORUMS = {"one lost disk", "two formatted again"}


@pytest.fixture(scope="module")
def trials(
    jars: Path, tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config
) -> Iterator[StartTrials]:
    """Trials of nodes, beside which a quorum runs that others can join."""
    folder = tmp_path_factory.mktemp("trials")
    live = format_node(controllers(folder / "live", 1)[0], standalone=True)
    with running(jars, live) as node:
        node.wait_ready()
        started = CASES if pytestconfig.getoption("--long") else STARTED
        trials = StartTrials(jars, folder, live, started)
        try:
            yield trials
        finally:
            trials.close()


@pytest.mark.parametrize("name", CASES)
def test_verify_agrees_with_the_server(trials: StartTrials, name: str) -> None:
    case = CASES[name]

    trial = trials.trial(name)

    assert trial.outcome in (case.outcome, None), trial.log[-4000:]
    lines = [f"{finding}; {finding.remedy}" for finding in trial.findings if finding.is_severe]
    assert bool(lines) == (case.outcome is not STARTS or case.is_risky), lines
    assert bool(case.says) == bool(trial.findings), trial.findings
    if case.says:
        found = lines or [str(finding) for finding in trial.findings]
        assert any(re.search(case.says, line) for line in found), found
    if case.cure:
        assert trial.cured
        assert [finding for finding in trial.cured.findings if finding.is_severe] == []
        assert trial.cured.outcome in (STARTS, None), trial.cured.log[-4000:]


@pytest.fixture(scope="module")
def quorum_trials(
    jars: Path, tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config
) -> Iterator[QuorumTrials]:
    """Trials of three controllers."""
    started = QUORUM_CASES if pytestconfig.getoption("--long") else STARTED_QUORUMS
    folder = tmp_path_factory.mktemp("quorum-trials")
    trials = QuorumTrials(jars, folder, started=started)
    try:
        yield trials
    finally:
        trials.close()


@pytest.mark.parametrize("name", QUORUM_CASES)
def test_verify_agrees_with_the_quorum(quorum_trials: QuorumTrials, name: str) -> None:
    case = QUORUM_CASES[name]

    trial = quorum_trials.trial(name)

    assert {finding.code for finding in trial.findings if finding.is_severe} == case.codes
    assert trial.outcome in (case.outcome, None), trial.log[-4000:]
    if case.cure:
        assert trial.cured
        assert [finding for finding in trial.cured.findings if finding.is_severe] == []
        assert trial.cured.outcome in (STARTS, None), trial.cured.log[-4000:]


ELSEWHERE = {
    "bad-configuration": "tests/cli/storage/test_verify.py",
    "ends-differ": "test_end_without_followers_is_a_note",
    "foreign-address": "tests/core/storage/verify/test_binding.py",
    "foreign-class": "tests/kafka/storage/test_release_trials.py",
    "missing-class": "tests/kafka/storage/test_release_trials.py",
    "missing-end": "tests/core/image/verify/test_loading.py",
    "missing-start": "tests/core/dump/check/test_starts.py",
    "misspelt-key": "tests/core/storage/verify/test_release.py",
    "no-producers": "tests/core/image/verify/test_loading.py",
    "no-remote-manager": "tests/kafka/storage/test_release_trials.py",
    "not-foretold": "tests/core/image/verify/test_loading.py",
    "not-writable": "test_directory_that_cannot_be_written_is_found",
    "older-disks": "tests/core/image/verify/test_older_disks.py",
    "other-broker": "tests/kafka/storage/test_assignments.py",
    "port-in-use": "tests/core/storage/verify/test_binding.py",
    "rival-quorums": "tests/kafka/storage/test_recover_rivals.py",
    "running": "test_directory_in_use_is_found",
    "start-cuts-log": "tests/core/checkup/test_archives.py",
    "wrong-class": "tests/kafka/storage/test_release_trials.py",
}
"""Findings that are not in the tables, and where they are tested."""


def test_every_finding_is_in_the_tables(trials: StartTrials, quorum_trials: QuorumTrials) -> None:
    findings = [finding for name in CASES for finding in trials.trial(name).findings]
    findings += [each for name in QUORUM_CASES for each in quorum_trials.trial(name).findings]

    assert len(CASES) + len(QUORUM_CASES) > 100
    of_verify = {row.code for row in catalogue().values() if "verify" in row.tools}
    assert of_verify - {finding.code for finding in findings} == ELSEWHERE.keys()


def test_directory_in_use_is_found(jars: Path, tmp_path: Path) -> None:
    config = format_node(combined(tmp_path, log_dirs=2), standalone=True)
    with locked(at(config, "d2")) as pid:
        done = storage("verify", "-c", str(config.path))
        started = starts(jars, config)

    assert done.code == 2
    assert re.fullmatch(
        rf"stops: .*/d2: process {pid} .* holds its lock; stop it first \[running\]\n", done.text
    )
    assert started.code == 1
    assert "Failed to acquire lock" in started.reason


def test_directory_that_cannot_be_written_is_found(jars: Path, tmp_path: Path) -> None:
    config = format_node(combined(tmp_path), standalone=True)
    place = str(config.log_dirs[0])
    try:
        subprocess.run(["chattr", "+i", place], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("nothing can be made immutable here")
    try:
        done = storage("verify", "-c", str(config.path))
        started = starts(jars, config)
    finally:
        subprocess.run(["chattr", "-i", place], check=True)

    assert done.code == 2
    assert "cannot write to it" in done.text
    assert started.code == 1


# Nodes of one cluster


@pytest.fixture(params=["formatted", "used"])
def three_controllers(request: pytest.FixtureRequest, tmp_path: Path) -> list[Config]:
    """Three controllers that were formatted together, and maybe have run."""
    if request.param == "used":
        trials: QuorumTrials = request.getfixturevalue("quorum_trials")
        return trials.copies(tmp_path)
    configs = controllers(tmp_path, 3)
    for config in configs:
        format_node(config, initial_controllers=initial_controllers(configs))
    return configs


def verdict(configs: Sequence[Config]) -> tuple[int, list[str]]:
    """Return the exit code of verify for several nodes, and its findings."""
    paths = [argument for config in configs for argument in ("-c", str(config.path))]
    done = storage("verify", *paths, "--format", "json")
    answer = json.loads(done.text)
    assert answer["isSound"] == (done.code == 0)
    return done.code, [
        f"{finding['file'] or finding['directory']}: {finding['text']}"
        for finding in answer["findings"]
        if finding["severity"] != "note"
    ]


def test_controllers_that_were_formatted_together_fit(three_controllers: list[Config]) -> None:
    assert verdict(three_controllers) == (0, [])
    for config in three_controllers:
        assert verdict([config]) == (0, [])


def own_quorum(config: Config) -> None:
    """Format a controller again, with itself as the only voter."""
    shutil.rmtree(config.log_dirs[0])
    format_node(config, standalone=True)


def no_voters(config: Config) -> None:
    """Format a controller again, without voters."""
    shutil.rmtree(config.log_dirs[0])
    format_node(config, no_initial_controllers=True)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        pytest.param(
            with_properties({"cluster.id": OTHER_ID}),
            f"node-3.properties: its cluster id is {OTHER_ID}, and .*node-1.properties has {CLUSTER_ID}",
            id="other cluster",
        ),
        pytest.param(
            all_of(with_properties({"node.id": "1"}), configured({"node.id": "1"})),
            "node-3.properties: its node id 1 is also the id of .*node-1.properties",
            id="one node id twice",
        ),
        pytest.param(
            with_properties({"directory.id": OTHER_ID}),
            f"node-3/d1: its directory id is {OTHER_ID}, .* has it as 3@localhost:",
            id="directory id that nobody knows",
        ),
        pytest.param(
            with_properties({"directory.id": directory_id(1)}),
            f"node-3/d1: its directory id {directory_id(1)} is also the id of .*node-1/d1",
            id="one directory id twice",
        ),
        pytest.param(
            own_quorum, "node-3/d1: its (voters are 3@.*, and|directory id is)", id="own quorum"
        ),
        pytest.param(
            no_voters, "node-3/d1: its directory id is .*, .* has it as 3@", id="formatted anew"
        ),
        pytest.param(
            configured({"controller.quorum.voters": "1@a:1,2@b:2,3@localhost:{port}"}),
            "node-3.properties: its controller.quorum.voters are 1@a:1.*, and .* has none",
            id="static voters of one node",
        ),
        pytest.param(
            configured({"log.dirs": "{folder}/../node-1/d1"}),
            "node-1/d1: .*node-1.properties and .*node-3.properties both have it",
            id="one directory of two nodes",
        ),
    ],
)
def test_controller_that_does_not_fit_is_found(
    three_controllers: list[Config], change: Change, says: str
) -> None:
    change(three_controllers[2])

    code, lines = verdict(three_controllers)

    assert code == 2
    assert any(re.search(says, line) for line in lines), lines


@pytest.mark.long
def test_end_without_followers_is_a_note(
    jars: Path, quorum_trials: QuorumTrials, tmp_path: Path
) -> None:
    """A leader without followers writes on for a while, and a broker reads that: all uncommitted."""
    quorum_trials.trial([*QUORUM_CASES][-1])  # then its ports are free
    configs = quorum_trials.copies(tmp_path)
    disk = format_node(broker(tmp_path, 102, configs))
    with ExitStack() as stack:
        nodes = [stack.enter_context(running(jars, config)) for config in configs]
        for node in nodes:
            node.wait_ready(3)
        member = stack.enter_context(running(jars, disk))
        member.wait_ready()
        number = nodes[0].cluster().controller
        leader = nodes.pop(number - 1)
        for node in nodes:
            node.kill()
        ends = [len(batches_of(node.config)) for node in nodes]
        assert until(lambda: leader.cluster().controller != number, 60)
        assert until(lambda: batches_of(disk)[-1] == batches_of(leader.config)[-1])
    shorter = [node.config for node in nodes]
    kept = batches_of(shorter[0])[: min(ends)]
    left = batches_of(leader.config)[max(ends) :]
    assert left

    code, lines = verdict([*configs, disk])

    assert (code, lines) == (0, [])
    assert note_codes([*configs, disk]) == {"ends-differ"}
    with running(jars, shorter[0]) as first, running(jars, shorter[1]):
        assert until(lambda: is_led(first), 60)
        assert batches_of(shorter[0])[: len(kept)] == kept
        assert left[0] not in batches_of(shorter[0])


def is_led(node: Node) -> bool:
    try:
        return node.cluster().controller >= 0
    except (OSError, AnswerError):
        return False


def note_codes(configs: Sequence[Config]) -> set[str]:
    """Return the codes of the notes of verify for several nodes."""
    paths = [argument for config in configs for argument in ("-c", str(config.path))]
    answer = json.loads(storage("verify", *paths, "--format", "json").text)
    return {finding["code"] for finding in answer["findings"] if finding["severity"] == "note"}


def test_controllers_that_all_wait_for_others_are_found(tmp_path: Path) -> None:
    configs = controllers(tmp_path, 3)
    for config in configs:
        format_node(config, no_initial_controllers=True)

    assert verdict(configs) == (
        2,
        ["None: no controller has voters: each would wait for the others"],
    )
    assert verdict(configs[:1]) == (0, [])


def test_static_voters_that_differ_are_found(tmp_path: Path) -> None:
    configs = controllers(tmp_path, 3, static=True)
    for config in configs:
        format_node(config)
    assert verdict(configs) == (0, [])
    voters = configs[2].settings["controller.quorum.voters"]

    configs[2].changed({"controller.quorum.voters": voters.replace("1@localhost", "1@elsewhere")})

    code, lines = verdict(configs)
    assert code == 2
    assert re.search(
        "its controller.quorum.voters are 1@elsewhere:.*, and .* has 1@local", lines[0]
    )
