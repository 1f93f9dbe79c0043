"""Directories in a log directory that are no partitions: log directories of other servers stay."""

from pathlib import Path

import pytest

from kraftops.dump.check.log_directory import misnamed_findings
from kraftops.server.log_directory import read_log_directory
from tests.helpers.nodes.assigned_partitions import D1, D2, write_meta


@pytest.mark.parametrize("inside", ["kafka", "hosts/n2"])
def test_log_directory_inside_of_another_one_is_not_moved_away(tmp_path: Path, inside: str) -> None:
    write_meta(tmp_path, 1, D1)
    (tmp_path / inside).mkdir(parents=True)
    write_meta(tmp_path / inside, 2, D2)
    (tmp_path / "lost+found").mkdir()

    other, empty = misnamed_findings(read_log_directory(str(tmp_path)))

    assert (other.code, other.severity, other.commands) == ("unknown-directory", "stops", ())
    assert f"it has the log directory {tmp_path / inside} of node 2" in other.text
    assert other.cure.startswith("leave what is in it")
    assert "lost+found" in empty.commands[0]
