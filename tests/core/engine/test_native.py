"""Scans by the compiled engine, and its errors."""

from pathlib import Path
from typing import Any

import pytest

from kraftops.dump.report import Report
from kraftops.dump.scan.part_printer import text_chunks
from kraftops.errors import KraftopsError
from kraftops.memory import USUAL
from kraftops.query.query import Query
from tests.helpers.logs.segments import IN

native = pytest.importorskip(
    "kraftops.engine.native", reason="there is no compiled engine", exc_type=ImportError
)
LOG = IN / "meta" / "00000000000000000000.log"


def test_failure_of_the_engine_is_an_error_with_a_hint(monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken:
        first_offset = last_offset = None

        def __init__(self, *_: Any) -> None:
            pass

        def feed(self, *_: Any) -> None:
            raise RuntimeError("the compiled engine failed; this is a bug of kraftops")

    monkeypatch.setattr("kraftops.engine._native.Scan", Broken)
    monkeypatch.setenv("KRAFTOPS_ENGINE", "native")

    with pytest.raises(KraftopsError, match=r"^at byte 0: the compiled engine failed") as caught:
        list(text_chunks(str(LOG), Query(), Report()))

    assert caught.value.exit_code == 1
    assert caught.value.hint == "KRAFTOPS_ENGINE=reference reads it slower"


def test_call_stops_before_bytes_that_are_no_batch(tmp_path: Path) -> None:
    """A call ends for any bytes, and returns the position."""
    from kraftops.engine.scan_contract import Request, Why

    scan = native.NativeScan(Request("x", Query()), USUAL.meter())
    for data in (b"", b"\0" * 61, b"\xff" * 100, LOG.read_bytes()[:60]):
        found = scan.feed(data, 0, 0)
        assert (found.out, found.next, found.why) == (b"", 0, Why.MORE)
    found = scan.feed(LOG.read_bytes(), 10**6, 0)
    assert (found.next, found.why) == (10**6, Why.MORE)
