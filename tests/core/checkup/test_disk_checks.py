"""Cures of the doctor for nodes on disk."""

from pathlib import Path

from kraftops.checkup.disk_checks import start
from kraftops.checkup.examination import Examination
from kraftops.storage.config.host import LocalKafka
from tests.helpers.nodes.node_directories import PROPERTIES, format_node, locked, make_node


def test_commands_for_a_server_that_runs_begin_with_its_stop(tmp_path: Path) -> None:
    node = make_node(tmp_path / "node", log_dirs=f"{tmp_path}/d1,{tmp_path}/d2")
    format_node(node)
    (tmp_path / "d2/lost+found").mkdir()

    def cure() -> str:
        examination = Examination([LocalKafka(str(node / PROPERTIES))])
        (finding,) = (finding for finding in start(examination) if finding.commands)
        return finding.cure

    assert cure().startswith("move it")
    with locked(tmp_path / "d2"):
        assert cure().startswith("stop the server; then move it")
