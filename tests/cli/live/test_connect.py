"""Quorums and settings from the options of a command line."""

import io
from pathlib import Path

import pytest

from kraftops.errors import ConfigError, UsageError
from kraftops_cli.live.connect import quorum_target
from kraftops_cli.live.options import QuorumOptions
from kraftops_cli.version import VERSION
from tests.helpers.tools.console import MemoryTerminal

SERVER = """\
controller.quorum.voters=1@a:1,2@b:2
controller.listener.names=CONTROLLER
listener.security.protocol.map=CONTROLLER:SSL
"""


@pytest.fixture
def terminal() -> MemoryTerminal:
    return MemoryTerminal("kafka-dump-log", io.BytesIO())


def test_controllers_of_the_command_line(terminal: MemoryTerminal) -> None:
    options = QuorumOptions(controllers="7@c:9,d:8", timeout=3.5, expect_cluster_id="x")

    target = quorum_target(terminal, options)

    assert [(str(each.address), each.node_id) for each in target.bootstrap] == [
        ("c:9", 7), ("d:8", None),
    ]  # fmt: skip
    assert (target.cluster_id, target.settings.timeout) == ("x", 3.5)
    assert (target.settings.protocol, target.settings.software_version) == ("PLAINTEXT", VERSION)


def test_controllers_and_login_of_a_server(terminal: MemoryTerminal, tmp_path: Path) -> None:
    path = tmp_path / "server.properties"
    path.write_text(SERVER)

    target = quorum_target(terminal, QuorumOptions(config=str(path)))
    both = quorum_target(terminal, QuorumOptions(config=str(path), controllers="c:9"))

    assert [str(each.address) for each in target.bootstrap] == ["a:1", "b:2"]
    assert target.settings.protocol == "SSL"
    assert [str(each.address) for each in both.bootstrap] == ["c:9"]
    assert both.settings.protocol == "SSL"


def test_client_properties_win_over_those_of_a_server(
    terminal: MemoryTerminal, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server, client = tmp_path / "server.properties", tmp_path / "client.properties"
    server.write_text(SERVER)
    client.write_text("default.api.timeout.ms=2000\nno.such.key=1\n")

    options = QuorumOptions(config=str(server), command_config=str(client))
    target = quorum_target(terminal, options)

    assert (target.settings.protocol, target.settings.timeout) == ("PLAINTEXT", 2)
    assert "warning: " in capsys.readouterr().err


def test_missing_controllers_are_refused(terminal: MemoryTerminal) -> None:
    with pytest.raises(UsageError, match="no controllers are named"):
        quorum_target(terminal, QuorumOptions())


def test_unreadable_server_configuration_is_refused(terminal: MemoryTerminal) -> None:
    with pytest.raises(ConfigError, match="cannot read no-such"):
        quorum_target(terminal, QuorumOptions(config="no-such"))
