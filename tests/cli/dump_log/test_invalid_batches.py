"""A batch whose CRC does not match: in rows of every form, in text, and left out."""

import csv
import io
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from kraftops.engine.choice import ENGINES
from tests.helpers.logs.corpus_rows import logs_of, parsed
from tests.helpers.logs.segments import IN, batches_of
from tests.helpers.tools.console import Done, run_here

LOG_NAME = "00000000000000000000.log"
META = "--cluster-metadata-decoder"
VALUE = b"a.manual"
SOUND = (IN / "meta" / LOG_NAME).read_bytes()


class Flipped:
    """A metadata log in which one bit of a value is flipped, so that all its records are read."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory / "__cluster_metadata-0"
        self.directory.mkdir()
        batch = next(batch for batch in batches_of(SOUND) if VALUE in batch.data)
        at = batch.data.rindex(VALUE)
        self.position, self.offset = batch.position, batch.header.base_offset
        data = bytearray(SOUND)
        data[batch.position + at] ^= 1
        self.path = self.directory / LOG_NAME
        self.path.write_bytes(data)
        self.count = batch.header.record_count
        self.line = f"{self.path}: position {self.position}: the CRC does not match"

    def dumped(self, *options: str) -> Done:
        """Return a dump of the log."""
        return run_here("--files", str(self.path), META, *options)


@pytest.fixture(params=ENGINES)
def flipped(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Flipped:
    monkeypatch.setenv("KRAFTOPS_ENGINE", request.param)
    return Flipped(tmp_path)


def test_flipped_bit_in_a_value_shows_in_each_row_of_json(flipped: Flipped) -> None:
    done = flipped.dumped("--format", "json")

    rows = parsed(done.text)
    bad = [row for row in rows if not row["crcValid"]]
    assert (done.code, done.errors) == (2, [flipped.line])
    assert [row["baseOffset"] for row in bad] == [flipped.offset] * flipped.count
    assert all(row["error"] is None for row in rows)
    assert {(row["topic"], row["partition"]) for row in rows} == {("__cluster_metadata", 0)}


def test_flipped_bit_in_a_value_shows_in_csv(flipped: Flipped) -> None:
    done = flipped.dumped("--format", "csv")

    rows = list(csv.DictReader(io.StringIO(done.text, newline="")))
    bad = [row["baseOffset"] for row in rows if row["crcValid"] == "false"]
    assert (done.code, done.errors) == (2, [flipped.line])
    assert bad == [str(flipped.offset)] * flipped.count
    assert {row["crcValid"] for row in rows} == {"true", "false"}


def test_flipped_bit_in_a_value_shows_in_parquet(flipped: Flipped) -> None:
    target = flipped.directory / "rows.parquet"

    done = flipped.dumped("--format", "parquet", "--output", str(target))

    rows = pq.read_table(target).select(["crcValid", "baseOffset"]).to_pylist()
    assert (done.code, done.errors) == (2, [flipped.line])
    bad = [row["baseOffset"] for row in rows if not row["crcValid"]]
    assert bad == [flipped.offset] * flipped.count


def test_text_is_that_of_kafka(flipped: Flipped) -> None:
    done = flipped.dumped()

    assert (done.code, done.errors) == (0, [])
    assert done.text.count("isvalid: false") == 1


def test_check_and_summary_count_it(flipped: Flipped) -> None:
    check = flipped.dumped("--check")
    rows = flipped.dumped("--check", "--format", "json")
    summary = flipped.dumped("--summary", "--format", "json")

    assert (check.code, check.errors) == (2, [flipped.line])
    assert (rows.code, rows.errors) == (2, [flipped.line])
    assert logs_of(summary.text)[0]["damage"]["count"] == 1


@pytest.mark.parametrize("form", ["text", "json", "csv"])
def test_batch_is_left_out(flipped: Flipped, form: str) -> None:
    whole = flipped.dumped("--format", form)
    with_check = flipped.dumped("--format", form, "--skip-invalid", "--check")

    done = flipped.dumped("--format", form, "--skip-invalid")

    assert (done.code, done.errors[0]) == (2, f"{flipped.line}; it is left out")
    # Kafka's text notes that offsets are missing.
    assert (done.errors[1:] == []) is (form != "text")
    assert (with_check.code, with_check.text) == (2, done.text)
    mark = {"text": f"baseOffset: {flipped.offset} ", "json": f'"baseOffset":{flipped.offset},'}
    lines = done.text.splitlines()
    left_out = flipped.count + (form == "text")
    assert len(lines) == len(whole.text.splitlines()) - left_out
    assert set(lines) < set(whole.text.splitlines())
    assert not any(mark[form] in line for line in lines if form in mark)


def test_filters_know_it(flipped: Flipped) -> None:
    bad = flipped.dumped("--format", "json", "--where", "crcValid=false")
    text = flipped.dumped("--where", "crcValid=false")
    none = flipped.dumped("--format", "json", "--where", "topic = 'orders'")
    beyond = flipped.dumped("--format", "json", "--offset", f"{flipped.offset + 1000}..")

    assert len(parsed(bad.text)) == flipped.count
    assert text.text.count("isvalid: false") == 1
    assert text.text.count("| offset: ") == flipped.count
    assert (none.code, none.text, none.errors) == (2, "", [flipped.line])
    assert (beyond.code, beyond.errors) == (0, [])


def test_torn_end_is_no_damage_of_rows(tmp_path: Path) -> None:
    path = tmp_path / LOG_NAME
    path.write_bytes(SOUND[:-5])

    done = run_here("--files", str(path), META, "--format", "json")

    assert (done.code, len(done.errors)) == (0, 1)
    assert parsed(done.text)[-1]["kind"] == "damage"
