"""The memory of each command for logs that inflate to much, within the limit and beyond it.

`KRAFTOPS_BOMBS=1` has every place, codec, form and command; `python -m tests.bench memory` the table.
"""

import os
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path

import pytest

from kraftops.log.codecs import CODECS
from tests.helpers.costs.bombed import (
    CASES,
    MOST,
    bombed_quorum,
    ended,
    lay_out,
    most_of_dump,
)
from tests.helpers.costs.bombs import FORMS, PLACES, WITHIN, bomb, is_possible
from tests.helpers.logs.costly_files import MIB, measured
from tests.helpers.tools.console import DUMP_LOG

BEYOND = 200 * MIB
HAS_ALL = bool(os.environ.get("KRAFTOPS_BOMBS"))
IN_GATE = [
    ("value", "json", "zstd", WITHIN),
    ("headers", "json", "zstd", WITHIN),
    ("many headers", "csv", "gzip", WITHIN),
    ("batches", "text", "zstd", WITHIN),
    ("key", "limit", "lz4", WITHIN),
    ("old value", "json", "gzip", WITHIN),
    ("old value", "where it is so", "gzip", WITHIN),
    ("old wrapper in a wrapper", "text", "lz4", WITHIN),
    ("values", "parquet", "zstd", WITHIN),
    ("noise", "parquet", "zstd", WITHIN),
    ("records", "summary", "gzip", BEYOND),
    ("records", "json", "snappy", WITHIN),
]
EVERY = [
    (place, form, codec, size)
    for place, form, codec, size in product(PLACES, FORMS, CODECS[1:], (WITHIN, BEYOND))
    if is_possible(place, codec) and (place, size) != ("noise", BEYOND)  # it does not inflate
]


@pytest.mark.parametrize(("place", "form", "codec", "size"), EVERY if HAS_ALL else IN_GATE)
def test_log_that_inflates_to_much_is_read_in_bounded_memory(
    place: str,
    form: str,
    codec: str,
    size: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    record_property: Callable[[str, object], None],
) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "00000000000000000000.log"
    path.write_bytes(bomb(place, size, codec))

    done, peak = measured("", DUMP_LOG, *FORMS[form], str(path), keeps_output=False)

    record_property("peak MiB", peak >> 20)
    assert "Traceback" not in done.err
    assert (done.code == 0) == (size == WITHIN and not _is_refused(place, form, codec)), done.err
    assert peak < most_of_dump(place, form)


def test_threads_share_the_memory_for_large_batches(tmp_path: Path) -> None:
    path = tmp_path / "00000000000000000000.log"
    batch = bomb("noise", WITHIN, "none")
    path.write_bytes(b"".join(number.to_bytes(8) + batch[8:] for number in range(4)))

    done, peak = measured("", DUMP_LOG, *FORMS["json"], "--jobs=4", str(path), keeps_output=False)

    assert done.code == 0, done.err
    assert peak < most_of_dump("noise", "json")


@pytest.fixture(scope="module")
def laid_out(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Path, str]]:
    """A folder with all that commands read, and the address of a controller."""
    place = tmp_path_factory.mktemp("bombs")
    lay_out(place, request.param)
    with bombed_quorum(request.param) as address:
        yield place, address


@pytest.mark.parametrize("laid_out", CODECS[1:] if HAS_ALL else ["zstd"], indirect=True)
@pytest.mark.parametrize("name", CASES if HAS_ALL else ["report", "time index"])
def test_every_command_reads_bombs_in_bounded_memory(
    name: str, laid_out: tuple[Path, str], record_property: Callable[[str, object], None]
) -> None:
    case = CASES[name]

    done, peak = ended(case, *laid_out)

    record_property("peak MiB", peak >> 20)
    assert "Traceback" not in done.err
    assert done.code in (0, 1, 2), done.err
    assert peak < case.most


def _is_refused(place: str, form: str, codec: str) -> bool:
    """Tell whether a log is refused within the limit, too: snappy alone needs bytes for records."""
    if place == "records":
        return codec != "snappy" and form != "limit"  # the first are read
    return place == "old wrapper in a wrapper"


def test_last_records_beyond_the_budget_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "00000000000000000000.log"
    path.write_bytes(bomb("value", WITHIN, "zstd"))

    done, peak = measured("", DUMP_LOG, "--format", "csv", "--tail", "1", str(path))
    refused, refused_peak = measured("", DUMP_LOG, "--format", "json", "--tail", "1", str(path))

    assert (done.code, refused.code) == (0, 1)
    assert "the last 1 records take more than 67108864 bytes of output" in refused.err
    assert max(peak, refused_peak) < 2 * MOST
