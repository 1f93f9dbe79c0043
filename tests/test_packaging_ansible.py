"""Actions of the Ansible collection, run on a local shell that takes the place of a connection."""

import importlib.util
import json
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any
from unittest.mock import patch

import pytest
import yaml

ROOT = Path(__file__).resolve().parent.parent
COLLECTION = ROOT / "packaging/ansible"
NAME = "ansible_collections.kraftops.kafka.plugins"
ACTIONS = ("decommission", "facts", "format", "restart", "verify")
CLUSTER_ID = "MkU3OEVBNTcwNTJENDM2Qg"
CONFIG = """\
process.roles=controller,broker
node.id=1
listeners=PLAINTEXT://localhost:9092,CONTROLLER://localhost:9093
controller.listener.names=CONTROLLER
controller.quorum.bootstrap.servers=localhost:9093
log.dirs={directory}
"""
Run = Callable[..., dict[str, Any]]


class LocalAction:
    """What actions use of Ansible's base class, with the shell of this host as the target."""

    def __init__(self, arguments: dict[str, Any], *, is_check: bool) -> None:
        self._task = SimpleNamespace(args=arguments, check_mode=is_check)

    def run(self, *_: object) -> dict[str, Any]:
        return {}

    def _low_level_execute_command(self, line: str) -> dict[str, Any]:
        done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=False)
        return {"rc": done.returncode, "stdout": done.stdout, "stderr": done.stderr}


def loaded(name: str) -> ModuleType:
    """Load a module of the collection under its name in Ansible."""
    path = COLLECTION / "plugins" / f"{name.replace('.', '/')}.py"
    spec = importlib.util.spec_from_file_location(f"{NAME}.{name}", path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[f"{NAME}.{name}"] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    """Return a function that runs an action; the tree has the kraftops of this environment."""
    tree = tmp_path / "tree"
    (tree / "bin").mkdir(parents=True)
    (tree / "bin/kraftops").symlink_to(Path(sys.executable).with_name("kraftops"))
    ansible = ModuleType("ansible.plugins.action")
    ansible.ActionBase = LocalAction  # type: ignore[attr-defined]
    with patch.dict(sys.modules, {"ansible.plugins.action": ansible}):
        for name in ("plugin_utils.contract", "plugin_utils.raw_action"):
            loaded(name)

        def run(name: str, *, is_check: bool = False, **arguments: object) -> dict[str, Any]:
            action = loaded(f"action.{name}").ActionModule
            told: dict[str, Any] = action({"tree": str(tree), **arguments}, is_check=is_check).run(
                None, {}
            )
            return told

        yield run


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "server.properties"
    path.write_text(CONFIG.format(directory=tmp_path / "log"))
    return path


def test_format_changes_once_and_nothing_in_check_mode(run: Run, config: Path) -> None:
    arguments = {"config": str(config), "cluster_id": CLUSTER_ID, "standalone": True}

    foreseen = run("format", is_check=True, **arguments)
    assert not (config.parent / "log").exists()
    first, second = run("format", **arguments), run("format", **arguments)

    assert [told["changed"] for told in (foreseen, first, second)] == [True, True, False]
    assert not any(told.get("failed") for told in (foreseen, first, second))


def test_another_cluster_id_is_refused(run: Run, config: Path) -> None:
    run("format", config=str(config), cluster_id=CLUSTER_ID, standalone="yes")

    told = run("format", config=str(config), cluster_id="MkU3OEVBNTcwNTJENDM2QQ", standalone="yes")

    assert (told["failed"], told["changed"], told["retry"]) == (True, False, False)
    assert f"but read {CLUSTER_ID}" in told["msg"]


def test_verify_fails_by_findings_that_are_not_allowed(run: Run, config: Path) -> None:
    told = run("verify", config=str(config))
    allowed = run("verify", config=str(config), allow=["not-formatted"])

    assert told["failed"]
    assert told["msg"].startswith("[not-formatted] ")
    assert not allowed.get("failed")
    assert not allowed["changed"]


def test_facts_are_those_of_the_directories(run: Run, config: Path) -> None:
    run("format", config=str(config), cluster_id=CLUSTER_ID, standalone=True)

    told = run("facts", config=str(config))

    (directory,) = told["ansible_facts"]["kraftops"]["directories"]
    assert (directory["clusterId"], told["changed"]) == (CLUSTER_ID, False)


@pytest.mark.parametrize(
    ("action", "arguments"),
    [("restart", {"hook": "true"}), ("decommission", {"id": [1, 2], "throttle": "50M"})],
)
def test_a_cluster_that_does_not_answer_may_be_asked_again(
    run: Run, action: str, arguments: dict[str, Any]
) -> None:
    told = run(action, bootstrap_server="127.0.0.1:1", **arguments)

    assert (told["failed"], told["code"], told["retry"]) == (True, "no-answer", True)
    assert not told["is_outcome_unknown"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [({}, "missing: config, cluster_id"), ({"configg": "x"}, "unknown: configg; there are ")],
)
def test_wrong_arguments_are_named(run: Run, arguments: dict[str, str], message: str) -> None:
    told = run("format", **arguments)

    assert told["failed"]
    assert told["msg"].startswith(message)


def test_a_host_without_the_tree_says_so(run: Run, config: Path, tmp_path: Path) -> None:
    told = run("verify", config=str(config), tree=str(tmp_path / "nothing"))

    assert (told["failed"], told["rc"]) == (True, 127)
    assert "copy the tree to the host" in told["msg"]


@pytest.mark.parametrize("name", ACTIONS)
def test_command_lines_have_options_that_there_are(run: Run, name: str) -> None:
    """With all arguments, no option is unknown."""
    action = loaded(f"action.{name}").ActionModule.action
    arguments = {**dict.fromkeys(action.options, "7"), **dict.fromkeys(action.flags, True)}
    contract = sys.modules[f"{NAME}.plugin_utils.contract"]

    line = contract.command_line(action, arguments, is_check=True)

    program = str(Path(sys.executable).with_name("kraftops"))
    _, *words = shlex.split(line)
    assert len(words) == len(
        {*action.words, *action.options, *action.flags, *action.always, *action.in_check_mode, 0}
    )
    manual = subprocess.run(
        [program, *action.words, "--help"], capture_output=True, text=True, check=True
    ).stdout
    options = [word.partition("=")[0] for word in words if word.startswith("--")]
    assert [option for option in options if f"{option} " not in manual] == []


def test_the_answer_is_taken_from_among_other_lines(run: Run) -> None:
    contract = sys.modules[f"{NAME}.plugin_utils.contract"]
    answer = json.dumps({"command": "format", "formatVersion": 2, "changed": True})
    completed = {"rc": 0, "stdout": f"Last login: today\r\n{answer}\r\n{{\n", "stderr": ""}

    told = contract.outcome(contract.FORMAT, {}, completed, is_check=False)

    assert (told["changed"], told.get("failed")) == (True, None)


def test_metadata_are_those_of_the_project() -> None:
    galaxy = yaml.safe_load((COLLECTION / "galaxy.yml").read_text())

    assert sorted(path.stem for path in (COLLECTION / "plugins/action").glob("*.py")) == [*ACTIONS]
    readme = (COLLECTION / galaxy["readme"]).read_text()
    assert all(f"`kraftops.kafka.{name}`" in readme for name in ACTIONS)
