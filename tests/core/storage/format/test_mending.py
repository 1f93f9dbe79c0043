"""Data directories that lost their meta.properties are mended, others are not."""

from pathlib import Path

import pytest

from kraftops.storage.config.server_config import load_config
from kraftops.storage.format.plan import directories_to_mend
from kraftops.storage.logdirs.directories import read_directories
from tests.helpers.nodes.node_directories import DYNAMIC, META, PROPERTIES, format_node, make_node


@pytest.fixture
def node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a node with three formatted directories, and partitions in two."""
    made = make_node(tmp_path / "node", DYNAMIC, log_dirs="d1,d2,d3")
    assert format_node(made, "--standalone").code == 0
    for name in ("d1", "d2"):
        (made / name / "t-0").mkdir()
        (made / name / f"t-0/{0:020}.log").touch()
    monkeypatch.chdir(made)
    return made


def mended() -> list[str]:
    directories = read_directories(load_config(PROPERTIES))
    return [directory.path for directory in directories_to_mend(directories)]


def test_data_directory_with_partitions_is_mended(node: Path) -> None:
    (node / "d2" / META).unlink()
    (node / "d3" / META).unlink()  # empty: it is formatted

    assert mended() == ["d2"]


def test_formatted_directories_stay(node: Path) -> None:
    assert mended() == []


def test_metadata_directory_is_not_mended(node: Path) -> None:
    (node / "d1" / META).unlink()
    (node / "d2" / META).unlink()

    assert mended() == []


def test_nothing_is_mended_beside_a_directory_that_cannot_be_read(node: Path) -> None:
    (node / "d2" / META).unlink()
    (node / "d3" / META).write_text("version=2\n")

    assert mended() == []
