"""`verify` predicts whether a real Kafka starts, on sound and damaged directories."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.helpers.kafka.cases.damaged_directories import (
    OTHER_ID,
    Change,
    all_of,
    at,
    configured,
    copy_node,
    format_node,
    with_properties,
)
from tests.helpers.kafka.cases.start_trials import StartTrials
from tests.helpers.kafka.cases.verify import CASES, STARTS, storage
from tests.helpers.kafka.nodes.configs import (
    CLUSTER_ID,
    Config,
    combined,
    controllers,
    directory_id,
    initial_controllers,
)
from tests.helpers.kafka.nodes.nodes import running, starts
from tests.helpers.nodes.node_directories import locked

pytestmark = pytest.mark.kafka


@pytest.fixture(scope="module")
def trials(jars: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[StartTrials]:
    """Trials of nodes, beside which a quorum runs that others can join."""
    folder = tmp_path_factory.mktemp("trials")
    live = format_node(controllers(folder / "live", 1)[0], standalone=True)
    with running(jars, live) as node:
        node.wait_ready()
        trials = StartTrials(jars, folder, live)
        try:
            yield trials
        finally:
            trials.close()


@pytest.mark.parametrize("name", CASES)
def test_verify_agrees_with_the_server(trials: StartTrials, name: str) -> None:
    case = CASES[name]

    trial = trials.trial(name)

    assert trial.outcome is case.outcome, trial.log[-4000:]
    lines = [f"{finding}; {finding.cure}" for finding in trial.findings if finding.stops]
    assert len(lines) == (trial.outcome is not STARTS), lines
    assert bool(case.says) == bool(trial.findings), trial.findings
    if case.says:
        found = lines or [str(finding) for finding in trial.findings]
        assert re.search(case.says, found[0]), found
    if case.cure:
        assert trial.cured
        assert [finding for finding in trial.cured.findings if finding.stops] == []
        assert trial.cured.outcome is STARTS, trial.cured.log[-4000:]


def test_directory_in_use_is_found(jars: Path, tmp_path: Path) -> None:
    config = format_node(combined(tmp_path, log_dirs=2), standalone=True)
    with locked(at(config, "d2")) as pid:
        done = storage("verify", "-c", str(config.path))
        started = starts(jars, config)

    assert done.code == 2
    assert re.fullmatch(rf".*/d2: process {pid} .* holds its lock; stop it first\n", done.text)
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


@pytest.fixture(scope="module")
def quorum(jars: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Config]:
    """Three controllers that have run together, without findings."""
    configs = controllers(tmp_path_factory.mktemp("quorum"), 3)
    for config in configs:
        format_node(config, initial_controllers=initial_controllers(configs))
    assert verdict(configs) == (0, [])
    with ExitStack() as stack:
        nodes = [stack.enter_context(running(jars, config)) for config in configs]
        for node in nodes:
            node.wait_ready(3)
    return configs  # of nodes that were killed, which a quorum must survive


@pytest.fixture(params=["formatted", "used"])
def three_controllers(request: pytest.FixtureRequest, tmp_path: Path) -> list[Config]:
    """Three controllers that were formatted together, and maybe have run."""
    if request.param == "used":
        used = request.getfixturevalue("quorum")
        servers = {key: used[0].settings[key] for key in ("controller.quorum.bootstrap.servers",)}
        return [
            copy_node(one, fresh).changed(servers)
            for one, fresh in zip(used, controllers(tmp_path, 3), strict=True)
        ]
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
    return done.code, [f"{one['path']}: {one['problem']}" for one in answer["findings"]]


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


def test_controllers_formatted_again_are_a_rival_history(
    jars: Path, quorum: list[Config], tmp_path: Path
) -> None:
    """Two of three are wiped, and formatted with the same list: they could elect a leader."""
    fresh = controllers(tmp_path, 3)
    configs = [copy_node(quorum[0], fresh[0]), *fresh[1:]]
    for config in configs[1:]:
        format_node(config, initial_controllers=initial_controllers(configs))

    code, lines = verdict(configs)

    assert code == 2
    assert [re.sub(r".*/(node-\d/d1: .*?),.*", r"\1", line) for line in lines] == [
        f"node-{number}/d1: its metadata log is empty" for number in (2, 3)
    ]
    assert verdict([configs[0], configs[1]])[0] == 0
    with running(jars, configs[1]) as second, running(jars, configs[2]):
        second.wait_ready(2)
        assert second.cluster().controller in (2, 3)
    for number in (2, 3):
        shutil.rmtree(configs[number - 1].log_dirs[0])
    assert any("the quorum is lost: 2, 3 of" in line for line in verdict(configs)[1])


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
