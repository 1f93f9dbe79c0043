"""Files that people write are read up to a size that none of them has."""

from pathlib import Path

import pytest

from kraftops.errors import KraftopsError
from kraftops.fileio.reading import CONFIG_BYTES, PLAN_BYTES, read_whole
from kraftops.placement.reassignment_json import read_plan
from kraftops.storage.config.server_config import load_config


@pytest.mark.parametrize(("read", "most"), [(load_config, CONFIG_BYTES), (read_plan, PLAN_BYTES)])
def test_absurd_file_is_refused_in_one_line(read: object, most: int, tmp_path: Path) -> None:
    path = tmp_path / "file"
    with path.open("wb") as file:
        file.truncate(most + 1)

    with pytest.raises(KraftopsError) as refused:
        read(str(path))  # type: ignore[operator]

    assert refused.value.message == f"cannot read {path}: File too large"


def test_file_of_the_largest_size_is_read(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"12345")

    assert read_whole(str(tmp_path / "file"), 5) == b"12345"
