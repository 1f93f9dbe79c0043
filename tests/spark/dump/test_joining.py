"""Parts of an output are joined into one file, in their order."""

from pathlib import Path

import pytest

from kraftops.dump.scan.arrow import arrow_batches, arrow_schema, write_parquet
from kraftops.fileio.output import OutputError, OutputFlags
from kraftops.query.row import Row
from kraftops.spark.dump.dump_job import Output, join, join_part
from kraftops.spark.dump.targets import Target

REPLACING = OutputFlags(overwrite=True)


@pytest.fixture
def target(tmp_path: Path) -> Target:
    folder = tmp_path / "parts"
    folder.mkdir()
    return Target(str(folder), str(folder), "run")


def put(target: Target, **parts: bytes) -> list[str]:
    for name, data in parts.items():
        (Path(target.place) / name).write_bytes(data)
    return list(parts)


def put_parquet(target: Target, name: str, *offsets: int) -> str:
    rows = [Row("f", 0, offset=offset) for offset in offsets]
    schema = arrow_schema({"user"})
    with (Path(target.place) / name).open("wb") as file:
        write_parquet(arrow_batches(rows, schema), file.fileno(), schema)
    return name


@pytest.mark.parametrize("form", ["text", "json"])
def test_lines_follow_one_another(target: Target, tmp_path: Path, form: str) -> None:
    names = put(target, b=b"1\n2\n", a=b"", c=b"3\n")

    join(target, names, form, Output(str(tmp_path / "out")))

    assert (tmp_path / "out").read_bytes() == b"1\n2\n3\n"


def test_csv_has_one_head(target: Target, tmp_path: Path) -> None:
    names = put(target, a=b"h,i\n1,2\n", b=b"h,i\n", c=b"h,i\n3,4\n")

    join(target, names, "csv", Output(str(tmp_path / "out")))

    assert (tmp_path / "out").read_bytes() == b"h,i\n1,2\n3,4\n"


def test_rows_of_parquet_files_are_in_one_table(target: Target, tmp_path: Path) -> None:
    pq = pytest.importorskip("pyarrow.parquet")
    names = [put_parquet(target, "a", 1, 2), put_parquet(target, "b"), put_parquet(target, "c", 3)]

    join(target, names, "parquet", Output(str(tmp_path / "out")))

    assert pq.read_table(tmp_path / "out").column("offset").to_pylist() == [1, 2, 3]


def test_file_stays_as_it_was_if_a_part_is_missing(target: Target, tmp_path: Path) -> None:
    (tmp_path / "out").write_bytes(b"earlier")

    with pytest.raises(OutputError, match="no"):
        join(
            target,
            [*put(target, a=b"1\n"), "none"],
            "text",
            Output(str(tmp_path / "out"), flags=REPLACING),
        )

    assert (tmp_path / "out").read_bytes() == b"earlier"


def test_ranges_of_a_split_become_its_part(target: Target) -> None:
    names = put(target, a=b"h\n1\n", b=b"h\n2\n")

    join_part(target, names, "csv", "part-00000.csv")

    assert (Path(target.place) / "part-00000.csv").read_bytes() == b"h\n1\n2\n"
