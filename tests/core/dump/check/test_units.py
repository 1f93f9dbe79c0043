"""Plain logs are checked many at a time, as looks at each of them would."""

from collections.abc import Callable
from pathlib import Path

import pytest

from kraftops.dump.check import units
from kraftops.dump.check.directories import CheckRequest, check_directories
from kraftops.dump.check.findings import PartitionCheck
from kraftops.engine.choice import why_not_native
from tests.helpers.engine.choice import using
from tests.helpers.logs.plain_logs import OTHERS, PLAIN, write

pytestmark = pytest.mark.skipif(why_not_native() is not None, reason="there is one engine")


@pytest.fixture
def looked_at(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The paths of what was looked at by itself."""
    paths: list[str] = []
    look: Callable[..., PartitionCheck] = units.check_unit

    def noted(unit: units.Unit, *args: object, **kwargs: object) -> PartitionCheck:
        paths.append(unit.path)
        return look(unit, *args, **kwargs)

    monkeypatch.setattr(units, "check_unit", noted)
    return paths


def test_only_plain_logs_of_directories_need_no_look(tmp_path: Path, looked_at: list[str]) -> None:
    write(tmp_path, PLAIN | OTHERS)

    checks = check_directories(CheckRequest([str(tmp_path)]))

    assert {Path(path).name for path in looked_at} == {f"{topic}-0" for topic in OTHERS}
    with using("reference"):
        assert check_directories(CheckRequest([str(tmp_path)])) == checks
    assert len(looked_at) == 2 * len(OTHERS) + len(PLAIN)


def test_only_plain_logs_that_are_named_alone_need_no_look(
    tmp_path: Path, looked_at: list[str]
) -> None:
    write(tmp_path, PLAIN | OTHERS)
    paths = sorted(map(str, tmp_path.glob("*/*.log")))

    checks = check_directories(CheckRequest(files=paths))

    assert {Path(path).parent.name for path in looked_at} == {
        f"{topic}-0" for topic in OTHERS if topic != "gap-between"
    }
    with using("reference"):
        assert check_directories(CheckRequest(files=paths)) == checks


@pytest.mark.parametrize("name", ["recovery-point-offset-checkpoint", "one-0/partition.metadata"])
def test_logs_of_which_another_file_tells_need_a_look(
    name: str, tmp_path: Path, looked_at: list[str]
) -> None:
    write(tmp_path, {"one": PLAIN["one"]})
    (tmp_path / name).write_text("0\n1\none 0 5\n")

    checks, _ = check_directories(CheckRequest([str(tmp_path)]))

    assert looked_at == [str(tmp_path / "one-0")]
    assert checks[0].findings
